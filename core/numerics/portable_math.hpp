// The functions of <cmath> for binary64 with the same bits on every host and compiler: + − × ÷ √ and
// bit operations only, no FMA, no library, subnormal results kept. The library's own functions differ
// between glibc, musl and the rest, and with them would the reference.
// Clients: math.hpp (double), strict_math (float results rounded from these), Bounded.
//
// Largest errors in ULP of binary64, found on random and extreme arguments against long double by
// tests/unit/numerics/portable_math_test.cpp. Without a number: 0.51, computed in twice the
// precision and rounded once.
#pragma once

namespace driftscope::portable {

[[nodiscard]] double exp(double x);    ///< 0.72 ULP
[[nodiscard]] double expm1(double x);  ///< 0.84 ULP
[[nodiscard]] double log(double x);
[[nodiscard]] double log1p(double x);
/// 0.60 ULP. As IEEE 754-2008: pow(x, ±0) and pow(1, y) are 1 even for NaN; NaN for x < 0 and fractional y.
[[nodiscard]] double pow(double x, double y);

[[nodiscard]] double sinh(double x);  ///< 0.75 ULP
[[nodiscard]] double cosh(double x);  ///< 0.56 ULP
[[nodiscard]] double tanh(double x);  ///< 0.57 ULP
[[nodiscard]] double asinh(double x);
[[nodiscard]] double acosh(double x);
[[nodiscard]] double atanh(double x);

/// Any finite x: its quadrant is computed in integers with as many digits of 2/π as needed.
[[nodiscard]] double sin(double x);  ///< 0.71 ULP
[[nodiscard]] double cos(double x);  ///< 0.75 ULP
[[nodiscard]] double tan(double x);  ///< 0.78 ULP
[[nodiscard]] double asin(double x);
[[nodiscard]] double acos(double x);
[[nodiscard]] double atan(double x);

[[nodiscard]] double erf(double x);       ///< 0.53 ULP
[[nodiscard]] double sigmoid(double x);   ///< 1/(1 + e⁻ˣ); 1.9 ULP
[[nodiscard]] double softplus(double x);  ///< log(1 + eˣ); 1.3 ULP

}  // namespace driftscope::portable
