// The sum of two quantized tensors, quantized: XNNPACK's own rounds its factors to 20 bits, which is more
// than rounding of real numbers explains. Client: operators/quantized_add.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// y = clamp(round((a − a_zero)·a_scale + (b − b_zero)·b_scale) / y_scale) + y_zero), ties to even, in
/// float32. Bytes are int8; for uint8 the highest bit is flipped first, and 128 subtracted from the zero
/// points.
struct QuantizedAdd {
  float a_scale = 1.0f, b_scale = 1.0f, y_scale = 1.0f;
  std::int32_t a_zero = 0, b_zero = 0, y_zero = 0;
  std::int32_t min = -128, max = 127;
};
using AddQuantized = void (*)(const std::int8_t* a, const std::int8_t* b, const QuantizedAdd& how,
                              std::int8_t* y, std::size_t n);

[[nodiscard]] AddQuantized add_quantized(const SimdTarget& target);

}  // namespace driftscope::fast
