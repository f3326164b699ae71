// The int8 form of a Gemm or MatMul whose factors are dequantized and whose result is quantized. Client:
// gemm.cpp.
#pragma once

#include "core/engines/fast/int8_values.hpp"
#include "core/lowering/quantized.hpp"

namespace driftscope::fast {

/// False if the node is not of this form.
[[nodiscard]] Result<bool> lower_product_between_quantized(Lowering& lowering, const Node& node);

}  // namespace driftscope::fast
