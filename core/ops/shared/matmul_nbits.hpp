// What verify asks of MatMulNBits beyond its definition. Clients: the operator, the variant of int8 inputs.
#pragma once

#include <string_view>

namespace driftscope {

/// Not an attribute of ONNX Runtime's: with it the bound also covers products with q and with the zero points
/// that are summed apart, as kernels of integers do it, and the storage of the result in this element type.
inline constexpr std::string_view separate_zero_points = "driftscope.separate_zero_points";

}  // namespace driftscope
