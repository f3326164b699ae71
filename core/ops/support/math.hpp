// The functions that kernels call, one name for every scalar: double from the C++ library, Bounded
// from bounded.hpp, float from strict_math.hpp. Also max and min with one meaning of NaN and ±0.
// Clients: kernels. No rounding rules of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/model/dtype.hpp"
#include "core/ops/support/bounded.hpp"
#include "core/ops/support/strict_math.hpp"

namespace driftscope::math {

/// What a scalar stands for, to compare it.
template <class T>
[[nodiscard]] T value(T x) { return x; }
[[nodiscard]] inline double value(const Bounded& x) { return x.value; }

template <class T>
[[nodiscard]] bool is_nan(const T& x) {
  const auto v = value(x);
  return v != v;
}

/// a > b ? a : b, but NaN if either is NaN; so max(−0, +0) is +0 and max(+0, −0) is −0.
template <class T>
[[nodiscard]] T max(T a, T b) {
  return a > b || a != a ? a : b;
}
/// a < b ? a : b, but NaN if either is NaN.
template <class T>
[[nodiscard]] T min(T a, T b) {
  return a < b || a != a ? a : b;
}
[[nodiscard]] inline Bounded max(Bounded a, Bounded b) { return driftscope::max(a, b); }
[[nodiscard]] inline Bounded min(Bounded a, Bounded b) { return driftscope::min(a, b); }

[[nodiscard]] inline double exp(double x) { return std::exp(x); }
[[nodiscard]] inline Bounded exp(Bounded x) { return driftscope::exp(x); }
[[nodiscard]] inline float exp(float x) { return strict_exp(x); }

[[nodiscard]] inline double tanh(double x) { return std::tanh(x); }
[[nodiscard]] inline Bounded tanh(Bounded x) { return driftscope::tanh(x); }
[[nodiscard]] inline float tanh(float x) { return strict_tanh(x); }

/// 1 / (1 + e⁻ˣ), from the side where e does not overflow.
[[nodiscard]] inline double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return x >= 0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}
[[nodiscard]] inline Bounded sigmoid(Bounded x) { return driftscope::sigmoid(x); }
[[nodiscard]] inline float sigmoid(float x) { return strict_sigmoid(x); }

[[nodiscard]] inline double sqrt(double x) { return std::sqrt(x); }
[[nodiscard]] inline Bounded sqrt(Bounded x) { return driftscope::sqrt(x); }
[[nodiscard]] inline float sqrt(float x) { return std::sqrt(x); }

/// The largest finite number of a floating element type.
[[nodiscard]] inline double largest(DType dtype) {
  switch (dtype) {
    case DType::float16: return 65504.0;
    case DType::bfloat16: return 0x1.fep127;
    case DType::float64: return std::numeric_limits<double>::max();
    default: return static_cast<double>(std::numeric_limits<float>::max());
  }
}

/// A double that is a number of the scalar's type, as that scalar.
template <class S>
[[nodiscard]] S exact(double x) {
  if constexpr (std::is_same_v<S, Bounded>) return Bounded(x);
  else return static_cast<S>(x);
}

}  // namespace driftscope::math
