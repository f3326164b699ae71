// Loops between floats, 32-bit sums and 8-bit steps, with the bits of core/ops/shared/quantization.hpp.
// Clients: the strict kernels of the quantized operators. Types of 4 and 16 bits are left to the scalar
// kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope {

/// Steps of int8 or uint8: low ≤ zero ≤ high. Both are stored as bytes.
struct ByteSteps {
  std::int32_t zero = 0;
  std::int32_t low = 0;
  std::int32_t high = 255;
};

/// `n` elements each.
struct QuantizeKernels {
  /// saturate(round(x / scale) + zero); ties to even, a NaN gives zero.
  void (*quantize)(const float* x, float scale, const ByteSteps& steps, std::uint8_t* y,
                   std::size_t n) = nullptr;
  /// saturate(round(float(sum) · factor) + zero).
  void (*requantize)(const std::int32_t* sums, float factor, const ByteSteps& steps, std::uint8_t* y,
                     std::size_t n) = nullptr;
  /// The same with a factor for each element.
  void (*requantize_each)(const std::int32_t* sums, const float* factors, const ByteSteps& steps,
                          std::uint8_t* y, std::size_t n) = nullptr;
  /// float(x − zero) · scale.
  void (*dequantize_uint8)(const std::uint8_t* x, std::int32_t zero, float scale, float* y,
                           std::size_t n) = nullptr;
  void (*dequantize_int8)(const std::int8_t* x, std::int32_t zero, float scale, float* y,
                          std::size_t n) = nullptr;
  /// Pairs for an integer product (pair_of): x[i] − zero and x[i + apart] − zero.
  void (*pairs_uint8)(const std::uint8_t* x, std::ptrdiff_t apart, std::int32_t zero, std::int32_t* pairs,
                      std::size_t n) = nullptr;
  void (*pairs_int8)(const std::int8_t* x, std::ptrdiff_t apart, std::int32_t zero, std::int32_t* pairs,
                     std::size_t n) = nullptr;
  /// Extends [low, high] to contain all elements; both become NaN if one is.
  void (*widen_range)(const float* x, std::size_t n, float& low, float& high) = nullptr;
};

[[nodiscard]] QuantizeKernels quantize_kernels(const SimdTarget& target);

}  // namespace driftscope
