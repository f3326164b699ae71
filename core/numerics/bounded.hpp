// Bounded: a real value with two bounds on the error of a float32 implementation.
// With this scalar the reference kernels become their own error analysis: the same template
// that computes the value in double computes a forward error bound here.
// Clients: kernels (as the template argument), evaluate, verify.
// Source: running error analysis, Higham, Accuracy and Stability of Numerical Algorithms, ch. 3;
// the statistical bound: Higham and Mary 2019, "A new approach to probabilistic rounding error
// analysis".
#pragma once

#include <cmath>

#include "core/numerics/error_model.hpp"

namespace driftscope {

struct Bounded {
  double value = 0.0;   ///< the result of exact arithmetic on the recorded inputs (in double)
  double worst = 0.0;   ///< maximum error of a float32 implementation of the operator, absolute
  double likely = 0.0;  ///< exceeded by rounding alone with a probability below 10⁻⁹ per tensor; ≤ worst
  /// The part of `likely` that may have the same sign in every element of a tensor: functions with their own
  /// polynomial, constants that were rounded once and used everywhere (1/n, a folded scale), the last
  /// rounding. Only roundings inside sums can cancel.
  double systematic = 0.0;

  constexpr Bounded() = default;
  constexpr Bounded(double exact) : value(exact) {}  // NOLINT: exact numbers convert
  constexpr Bounded(double v, double w, double l) : Bounded(v, w, l, l) {}
  constexpr Bounded(double v, double w, double l, double s) : value(v), worst(w), likely(l), systematic(s) {}
};

// One rounding each, in the error model of the current scope; see error_model.hpp.
[[nodiscard]] Bounded operator+(Bounded a, Bounded b);
[[nodiscard]] Bounded operator-(Bounded a, Bounded b);
[[nodiscard]] Bounded operator*(Bounded a, Bounded b);
[[nodiscard]] Bounded operator/(Bounded a, Bounded b);
[[nodiscard]] Bounded sqrt(Bounded x);

// No rounding.
[[nodiscard]] Bounded operator-(Bounded x);
[[nodiscard]] Bounded abs(Bounded x);
[[nodiscard]] Bounded max(Bounded a, Bounded b);  ///< NaN if either is
[[nodiscard]] Bounded min(Bounded a, Bounded b);  ///< NaN if either is

// Functions (bounded_functions.cpp). The accuracy comes from the row of the error model; the error of x
// is propagated through the slope. Where a row says that an engine derives a function from others
// (GPUs), the bound is derived as well.
[[nodiscard]] Bounded exp(Bounded x);
[[nodiscard]] Bounded expm1(Bounded x);  ///< also covers exp(x) − 1
[[nodiscard]] Bounded log(Bounded x);
[[nodiscard]] Bounded log1p(Bounded x);     ///< also covers log(1 + x)
[[nodiscard]] Bounded softplus(Bounded x);  ///< also covers log(1 + exp(x))
[[nodiscard]] Bounded tanh(Bounded x);
[[nodiscard]] Bounded sigmoid(Bounded x);
[[nodiscard]] Bounded sinh(Bounded x);
[[nodiscard]] Bounded cosh(Bounded x);
[[nodiscard]] Bounded asinh(Bounded x);
[[nodiscard]] Bounded acosh(Bounded x);
[[nodiscard]] Bounded atanh(Bounded x);
[[nodiscard]] Bounded sin(Bounded x);
[[nodiscard]] Bounded cos(Bounded x);
[[nodiscard]] Bounded tan(Bounded x);
[[nodiscard]] Bounded asin(Bounded x);
[[nodiscard]] Bounded acos(Bounded x);
[[nodiscard]] Bounded atan(Bounded x);
[[nodiscard]] Bounded erf(Bounded x);
[[nodiscard]] Bounded gelu_erf(Bounded x);  ///< erf by the row for Gelu
[[nodiscard]] Bounded pow(Bounded x, Bounded y);

}  // namespace driftscope
