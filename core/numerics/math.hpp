// The functions that kernels call, one name for every scalar: double from portable_math.hpp, Bounded
// from bounded.hpp, float from strict_math.hpp. Also max and min with one definition for NaN and ±0, and
// support for kernels with jumps. Clients: kernels. No rounding rules of its own.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "core/base/float_bits.hpp"
#include "core/model/dtype.hpp"
#include "core/model/element.hpp"
#include "core/numerics/bounded.hpp"
#include "core/numerics/portable_math.hpp"
#include "core/numerics/strict_math.hpp"

namespace driftscope::math {

/// The real number that a scalar represents, for comparisons.
template <class T>
[[nodiscard]] T value(T x) {
  return x;
}
[[nodiscard]] inline double value(const Bounded& x) { return x.value; }

/// The same as a double.
template <class T>
[[nodiscard]] double to_double(const T& x) {
  return static_cast<double>(value(x));
}

template <class T>
[[nodiscard]] bool is_nan(const T& x) {
  const auto v = value(x);
  return v != v;
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// All bits of T, or none.
template <class T>
[[nodiscard]] BitsOf<T> mask_of(bool set) {
  return BitsOf<T>{0} - static_cast<BitsOf<T>>(set);
}

/// `a` where the mask is set, else `b`, without a branch, which would be unpredictable.
template <class T>
[[nodiscard]] T select_bits(BitsOf<T> mask, T a, T b) {
  return std::bit_cast<T>((std::bit_cast<BitsOf<T>>(a) & mask) | (std::bit_cast<BitsOf<T>>(b) & ~mask));
}

/// a > b ? a : b, but NaN if either is NaN; so max(−0, +0) is +0 and max(+0, −0) is −0. Compared as
/// integers: compilers take a select on "not less or equal" for wasm's pmax, which keeps the other zero.
template <class T>
[[nodiscard]] T max(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto larger = mask_of<T>(ordered_bits(a) > ordered_bits(b));
    return select_bits(mask_of<T>(is_nan(a)) | (~mask_of<T>(is_nan(b)) & larger), a, b);
  } else {
    return a > b ? a : b;
  }
}
/// a < b ? a : b, but NaN if either is NaN.
template <class T>
[[nodiscard]] T min(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto smaller = mask_of<T>(ordered_bits(a) < ordered_bits(b));
    return select_bits(mask_of<T>(is_nan(a)) | (~mask_of<T>(is_nan(b)) & smaller), a, b);
  } else {
    return a < b ? a : b;
  }
}
[[nodiscard]] inline Bounded max(Bounded a, Bounded b) { return driftscope::max(a, b); }
[[nodiscard]] inline Bounded min(Bounded a, Bounded b) { return driftscope::min(a, b); }

template <class T>
[[nodiscard]] T abs(T x) {
  return std::fabs(x);
}
[[nodiscard]] inline Bounded abs(Bounded x) { return driftscope::abs(x); }

// float has formulas of its own, which SIMD shares.
[[nodiscard]] inline double exp(double x) { return portable::exp(x); }
[[nodiscard]] inline Bounded exp(Bounded x) { return driftscope::exp(x); }
[[nodiscard]] inline float exp(float x) { return strict_exp(x); }

[[nodiscard]] inline double tanh(double x) { return portable::tanh(x); }
[[nodiscard]] inline Bounded tanh(Bounded x) { return driftscope::tanh(x); }
[[nodiscard]] inline float tanh(float x) { return strict_tanh(x); }

/// 1 / (1 + e⁻ˣ), from the side where e does not overflow.
[[nodiscard]] inline double sigmoid(double x) { return portable::sigmoid(x); }
[[nodiscard]] inline Bounded sigmoid(Bounded x) { return driftscope::sigmoid(x); }
[[nodiscard]] inline float sigmoid(float x) { return strict_sigmoid(x); }

[[nodiscard]] inline double erf(double x) { return portable::erf(x); }
[[nodiscard]] inline Bounded erf(Bounded x) { return driftscope::erf(x); }
[[nodiscard]] inline float erf(float x) { return strict_erf(x); }

// float is the double result rounded.
#define DRIFTSCOPE_FUNCTION(f)                                           \
  [[nodiscard]] inline double f(double x) { return portable::f(x); }     \
  [[nodiscard]] inline Bounded f(Bounded x) { return driftscope::f(x); } \
  [[nodiscard]] inline float f(float x) { return static_cast<float>(portable::f(static_cast<double>(x))); }
DRIFTSCOPE_FUNCTION(expm1)
DRIFTSCOPE_FUNCTION(log)
DRIFTSCOPE_FUNCTION(log1p)
DRIFTSCOPE_FUNCTION(softplus)
DRIFTSCOPE_FUNCTION(sinh)
DRIFTSCOPE_FUNCTION(cosh)
DRIFTSCOPE_FUNCTION(asinh)
DRIFTSCOPE_FUNCTION(acosh)
DRIFTSCOPE_FUNCTION(atanh)
DRIFTSCOPE_FUNCTION(sin)
DRIFTSCOPE_FUNCTION(cos)
DRIFTSCOPE_FUNCTION(tan)
DRIFTSCOPE_FUNCTION(asin)
DRIFTSCOPE_FUNCTION(acos)
DRIFTSCOPE_FUNCTION(atan)
#undef DRIFTSCOPE_FUNCTION

[[nodiscard]] inline double pow(double x, double y) { return portable::pow(x, y); }
[[nodiscard]] inline Bounded pow(Bounded x, Bounded y) { return driftscope::pow(x, y); }
[[nodiscard]] inline float pow(float x, float y) {
  return static_cast<float>(portable::pow(static_cast<double>(x), static_cast<double>(y)));
}

[[nodiscard]] inline double sqrt(double x) { return std::sqrt(x); }
[[nodiscard]] inline Bounded sqrt(Bounded x) { return driftscope::sqrt(x); }
[[nodiscard]] inline float sqrt(float x) { return std::sqrt(x); }

/// The largest finite number of a floating element type.
[[nodiscard]] inline double largest(DType dtype) {
  auto number = static_cast<double>(std::numeric_limits<float>::max());
  visit_floating(dtype, [&]<class E>() { number = static_cast<double>(E::largest); });
  return number;
}

/// A double that is representable in the scalar's type, as that scalar.
template <class S>
[[nodiscard]] S exact(double x) {
  if constexpr (std::is_same_v<S, Bounded>)
    return Bounded(x);
  else
    return static_cast<S>(x);
}

/// A number of the model's, such as an attribute: exact, but for engines that take subnormal ones as zero.
template <class S>
[[nodiscard]] S given(float x) {
  const auto value = static_cast<double>(x);
  if constexpr (std::is_same_v<S, Bounded>) {
    const double size = std::fabs(value);
    const bool flushed = size < static_cast<double>(std::numeric_limits<float>::min()) &&
                         current_error_model().flushes_subnormals;
    return flushed ? Bounded(value, size, size) : Bounded(value);
  } else {
    return exact<S>(value);
  }
}

/// A constant that float32 cannot represent: rounded once where it is used, the same way for every element.
template <class S>
[[nodiscard]] S rounded_constant(double x) {
  if constexpr (std::is_same_v<S, Bounded>) {
    const double error = std::fabs(x) * current_error_model().unit_roundoff;
    return {x, error, error};
  } else {
    return static_cast<S>(x);
  }
}

/// The error of `count` more roundings, for operators whose formula is written in other ways too.
[[nodiscard]] inline Bounded round_more(Bounded x, int count) {
  const double unit = current_error_model().unit_roundoff * count;
  if (!std::isfinite(x.value) || !(x.worst < std::numeric_limits<double>::infinity())) return x;
  const auto add = [&](double& error) { error += unit * (std::fabs(x.value) + error); };
  add(x.worst);
  add(x.likely);
  add(x.systematic);
  return x;
}

/// x > at ? above(x) : below(x); NaN goes below. For Bounded, if the error of x reaches the border,
/// either branch may have been taken: the bound covers both, and the jump between them.
template <class S, class Below, class Above>
[[nodiscard]] S split_at(S x, S at, const Below& below, const Above& above) {
  if constexpr (std::is_same_v<S, Bounded>) {
    const bool is_above = x.value > at.value;
    const double room = x.worst + at.worst;
    if (room == 0.0 || std::fabs(x.value - at.value) > room || x.value != x.value)
      return is_above ? above(x) : below(x);
    const Bounded high = above(x);
    const Bounded low = below(x);
    const double jump = std::fabs(high.value - low.value);
    return {is_above ? high.value : low.value, std::fmax(high.worst, low.worst) + jump,
            std::fmax(high.likely, low.likely) + jump, std::fmax(high.systematic, low.systematic) + jump};
  } else {
    return x > at ? above(x) : below(x);
  }
}

/// A monotonic step function (floor, sign, …): no rounding; if the error of x reaches a
/// jump, the result may be on the other side.
template <class S, class Step>
[[nodiscard]] S step(S x, const Step& f) {
  if constexpr (std::is_same_v<S, Bounded>) {
    const double value = f(x.value);
    const auto reach = [&](double error) {
      if (error == 0.0) return 0.0;
      const double up = f(x.value + error) - value;
      const double down = value - f(x.value - error);
      return error < std::numeric_limits<double>::infinity() ? std::fmax(up, down) : error;
    };
    return {value, reach(x.worst), reach(x.likely), reach(x.systematic)};
  } else {
    return f(x);
  }
}

/// Whether these numbers have any error. Only Bounded ones can.
template <class S>
[[nodiscard]] bool has_error(std::span<const S> values) {
  if constexpr (std::is_same_v<S, Bounded>)
    return std::any_of(values.begin(), values.end(), [](const Bounded& x) { return !(x.worst == 0.0); });
  return false;
}

}  // namespace driftscope::math
