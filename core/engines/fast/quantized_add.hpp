// The int8 form of an Add of two dequantized values whose result is quantized. Client: binary.cpp.
#pragma once

#include "core/engines/fast/int8_values.hpp"
#include "core/lowering/quantized.hpp"

namespace driftscope::fast {

/// False if the node is not of this form.
[[nodiscard]] Result<bool> lower_sum_between_quantized(Lowering& lowering, const Node& node);

}  // namespace driftscope::fast
