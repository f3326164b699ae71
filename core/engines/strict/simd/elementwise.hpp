// Loops over contiguous floats, element by element: the same bits as the scalar expression given with
// each. Clients: the strict kernels of elementwise operators, BatchNormalization, Softmax.
#pragma once

#include <cstddef>
#include <span>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope {

/// Outputs may be the inputs themselves, but may not overlap them otherwise. `n` elements each.
struct ElementwiseKernels {
  using Unary = void (*)(const float* x, float* y, std::size_t n);
  using Binary = void (*)(const float* a, const float* b, float* y, std::size_t n);
  using WithScalar = void (*)(const float* x, float s, float* y, std::size_t n);
  using WithTwo = void (*)(const float* x, float s, float t, float* y, std::size_t n);

  Unary exp = nullptr;              ///< strict_exp(x)
  Unary tanh = nullptr;             ///< strict_tanh(x)
  Unary sigmoid = nullptr;          ///< strict_sigmoid(x)
  Unary erf = nullptr;              ///< strict_erf(x)
  Unary gelu = nullptr;             ///< (½·x)·(1 + strict_erf(x·√½))
  Unary gelu_tanh = nullptr;        ///< (½·x)·(1 + strict_tanh(√(2/π)·(x + 0.044715·x³)))
  Unary relu = nullptr;             ///< x > 0 or NaN ? x : +0
  Binary add = nullptr;             ///< a + b
  Binary sub = nullptr;             ///< a − b
  Binary mul = nullptr;             ///< a · b
  Binary div = nullptr;             ///< a / b
  WithScalar add_scalar = nullptr;  ///< x + s
  WithScalar sub_scalar = nullptr;  ///< x − s
  WithScalar mul_scalar = nullptr;  ///< x · s
  WithScalar div_scalar = nullptr;  ///< x / s
  WithTwo scale_shift = nullptr;    ///< (x · s) + t, two roundings
  WithTwo clip = nullptr;           ///< min(max(x, s), t) as math::max and math::min have them
  /// The largest; NaN if there is one. −∞ for n = 0.
  float (*largest)(const float* x, std::size_t n) = nullptr;
  /// reduce_sum: eight interleaved partial sums and a fixed tree.
  float (*sum)(const float* x, std::size_t n) = nullptr;
  /// The same of (x − mean)².
  float (*sum_squared_deviations)(const float* x, float mean, std::size_t n) = nullptr;
};

[[nodiscard]] ElementwiseKernels elementwise_kernels(const SimdTarget& target);

}  // namespace driftscope
