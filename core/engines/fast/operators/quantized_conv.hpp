// The int8 form of a Conv whose input and weights are dequantized and whose result is quantized. Client:
// conv.cpp.
#pragma once

#include "core/engines/fast/int8_values.hpp"
#include "core/lowering/quantized.hpp"

namespace driftscope::fast {

/// False if the node is not of this form.
[[nodiscard]] Result<bool> lower_between_quantized(Lowering& lowering, const Node& node);

}  // namespace driftscope::fast
