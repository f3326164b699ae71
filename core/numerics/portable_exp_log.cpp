// exp, expm1, log, log1p, pow, sigmoid, softplus of portable_math.hpp.
// Method: Muller, Elementary Functions, ch. 3 and 11; the series are Taylor's, long enough to need no
// fitted coefficients.
#include <array>

#include "core/numerics/portable_math.hpp"
#include "core/numerics/portable_parts.hpp"

namespace driftscope::portable {
namespace {

// A 32-bit approximation, so that n·ln_2_short is exact for n of 11 bits, and the remainder.
constexpr double ln_2_short = 0x1.62e42fee00000p-1;
constexpr double ln_2_rest = 0x1.a39ef35793c76p-33;
constexpr double log2_e = 0x1.71547652b82fep+0;

// Σ rⁱ/(i+2)!: (eʳ − 1 − r)/r², |r| ≤ 0.3466. The first term left out is 2⁻⁶¹ of eʳ.
double exponential_tail(double r) {
  constexpr std::array<double, 13> coefficients = {1.0 / 87178291200.0,
                                                   1.0 / 6227020800.0,
                                                   1.0 / 479001600.0,
                                                   1.0 / 39916800.0,
                                                   1.0 / 3628800.0,
                                                   1.0 / 362880.0,
                                                   1.0 / 40320.0,
                                                   1.0 / 5040.0,
                                                   1.0 / 720.0,
                                                   1.0 / 120.0,
                                                   1.0 / 24.0,
                                                   1.0 / 6.0,
                                                   0.5};
  double sum = 0.0;
  for (const double c : coefficients) sum = sum * r + c;
  return sum;
}

// log(1 + f) = 2·atanh(s) with s = f/(2 + f), for 1 + f in [√½, √2].
Wide reduced_logarithm(Wide f) {
  // 2·(s + s³/3 + s⁵/5 + …); from s⁷ on plain doubles are exact enough: z³/7 is 2⁻¹⁸.
  constexpr std::array<double, 12> coefficients = {1.0 / 29.0, 1.0 / 27.0, 1.0 / 25.0, 1.0 / 23.0,
                                                   1.0 / 21.0, 1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0,
                                                   1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0,  1.0 / 7.0};
  constexpr Wide third = {1.0 / 3.0, 0x1.5555555555555p-56};
  constexpr Wide fifth = {0.2, -0x1.999999999999ap-57};
  const Wide s = f / (f + 2.0);
  const Wide z = s * s;
  double tail = 0.0;
  for (const double c : coefficients) tail = tail * z.high + c;
  const Wide series = z * (third + z * (fifth + z * tail));
  const Wide twice = {s.high + s.high, s.low + s.low};
  return twice + twice * series;
}

struct Split {
  double mantissa;  ///< in [√½, √2)
  int exponent;
};

Split split(double x) {
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (mantissa > 0x1.6a09e667f3bcdp0) {
    mantissa *= 0.5;
    ++exponent;
  }
  return {mantissa, exponent};
}

bool is_whole(double y) {
  return std::fabs(y) >= 0x1p53 || static_cast<double>(static_cast<std::int64_t>(y)) == y;
}

bool is_odd(double y) {
  return std::fabs(y) < 0x1p53 && is_whole(y) && (static_cast<std::int64_t>(y) & 1) != 0;
}

// y is ±∞.
double power_to_infinity(double base, double y) {
  if (base == 1.0) return 1.0;
  return (base > 1.0) == (y > 0.0) ? infinity : 0.0;
}

}  // namespace

Exponential exponential(Wide x) {
  // Adding 1.5·2⁵² rounds to an integer.
  const double n = (x.high * log2_e + 0x1.8p52) - 0x1.8p52;
  const Wide r = exact_sum(x.high - n * ln_2_short, x.low - n * ln_2_rest);
  // e^(high + low) = e^high + low·e^high
  const double tail = r.high * r.high * exponential_tail(r.high) + r.low * (1.0 + r.high);
  const Wide sum = exact_sum(1.0, r.high);
  return {quick_sum(sum.high, sum.low + tail), static_cast<int>(n)};
}

Wide logarithm_of_one_plus(Wide f) {
  if (f.high > -0.29 && f.high < 0.41) return reduced_logarithm(f);
  const Wide x = f + 1.0;
  const auto [mantissa, exponent] = split(x.high);
  const double scale = power_of_two(-exponent);
  const Wide rest = Wide(x.high * scale, x.low * scale) + -1.0;
  return ln_2 * static_cast<double>(exponent) + reduced_logarithm(rest);
}

Wide logarithm(double x) {
  const auto [mantissa, exponent] = split(x);
  const Wide rest = reduced_logarithm(mantissa - 1.0);
  return exponent == 0 ? rest : ln_2 * static_cast<double>(exponent) + rest;
}

double exp(double x) {
  if (x != x) return x;
  if (x > 710.0) return infinity;
  if (x < -746.0) return 0.0;
  const Exponential e = exponential(x);
  return scaled(e.value.rounded(), e.k);
}

double expm1(double x) {
  if (x != x || std::fabs(x) < 0x1p-54) return x;
  if (x > 710.0) return infinity;
  if (x < -60.0) return -1.0;
  if (std::fabs(x) < 0.34) return x + x * x * exponential_tail(x);
  const Exponential e = exponential(x);
  if (e.k > 100) return scaled(e.value.rounded(), e.k);
  const double scale = power_of_two(e.k);
  return (Wide(e.value.high * scale, e.value.low * scale) + -1.0).rounded();
}

double log(double x) {
  if (x != x || x == infinity) return x;
  if (x <= 0.0) return x == 0.0 ? -infinity : not_a_number;
  return logarithm(x).rounded();
}

double log1p(double x) {
  if (x != x || x == infinity || std::fabs(x) < 0x1p-54) return x;
  if (x <= -1.0) return x == -1.0 ? -infinity : not_a_number;
  return (x > 0x1p60 ? logarithm(x) : logarithm_of_one_plus(x)).rounded();
}

double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return not_a_number;
  const double base = std::fabs(x);
  if (std::fabs(y) == infinity) return power_to_infinity(base, y);
  const double sign = std::signbit(x) && is_odd(y) ? -1.0 : 1.0;
  if (base == 0.0 || base == infinity) return sign * ((base == 0.0) == (y > 0.0) ? 0.0 : infinity);
  if (x < 0.0 && !is_whole(y)) return not_a_number;
  // The usual ones: rounded once.
  if (y == 1.0) return x;
  if (y == 2.0) return x * x;
  if (y == 0.5) return std::sqrt(x);
  if (y == -1.0) return 1.0 / x;
  const Wide log_base = logarithm(base);
  const double about = y * log_base.high;
  if (!(std::fabs(about) < 800.0)) return sign * (about > 0.0 ? infinity : 0.0);
  if (std::fabs(about) < 0x1p-60) return sign;
  const Exponential e = exponential(log_base * y);
  return sign * scaled(e.value.rounded(), e.k);
}

double sigmoid(double x) {
  const double e = exp(-std::fabs(x));
  return x >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

double softplus(double x) {
  const double tail = log1p(exp(-std::fabs(x)));
  return x > 0.0 ? x + tail : tail;
}

}  // namespace driftscope::portable
