// sinh, cosh, tanh and their inverses of portable_math.hpp.
#include <array>

#include "core/numerics/portable_math.hpp"
#include "core/numerics/portable_parts.hpp"

namespace driftscope::portable {
namespace {

// Up to here Taylor's series, above it exponentials, which lose too many digits nearer to 0.
constexpr double series_end = 0.35;

// sinh(a) for a ≤ 0.35: the first term left out is 2⁻⁶⁴ of it.
Wide series_sinh(double a) {
  constexpr std::array<double, 7> coefficients = {
      1.0 / 1307674368000.0, 1.0 / 6227020800.0, 1.0 / 39916800.0, 1.0 / 362880.0,
      1.0 / 5040.0,          1.0 / 120.0,        1.0 / 6.0};
  const double z = a * a;
  double sum = 0.0;
  for (const double c : coefficients) sum = sum * z + c;
  return quick_sum(a, a * z * sum);
}

Wide series_cosh(double a) {
  constexpr std::array<double, 8> coefficients = {
      1.0 / 20922789888000.0, 1.0 / 87178291200.0, 1.0 / 479001600.0, 1.0 / 3628800.0,
      1.0 / 40320.0,          1.0 / 720.0,         1.0 / 24.0,        0.5};
  const double z = a * a;
  double sum = 0.0;
  for (const double c : coefficients) sum = sum * z + c;
  return quick_sum(1.0, z * sum);
}

struct Halves {
  Wide growing;    ///< eᵃ/2
  Wide shrinking;  ///< e⁻ᵃ/2
};

// a ≤ 40
Halves halves(double a) {
  const Exponential e = exponential(a);
  const Wide inverse = Wide(1.0) / e.value;
  const double up = power_of_two(e.k - 1);
  const double down = power_of_two(-e.k - 1);
  return {{e.value.high * up, e.value.low * up}, {inverse.high * down, inverse.low * down}};
}

// eᵃ/2 where e⁻ᵃ no longer contributes.
double half_exponential(double a) {
  if (a > 720.0) return infinity;
  const Exponential e = exponential(a);
  return scaled(e.value.rounded(), e.k - 1);
}

// log(2a) for such large a, where asinh and acosh round to it.
double log_of_twice(double a) { return (logarithm(a) + ln_2).rounded(); }
constexpr double large = 0x1p60;

}  // namespace

double sinh(double x) {
  const double a = std::fabs(x);
  if (x != x || a < tiny || a == infinity) return x;
  if (a <= series_end) return with_sign(series_sinh(a).rounded(), x);
  if (a > 40.0) return with_sign(half_exponential(a), x);
  const auto [growing, shrinking] = halves(a);
  return with_sign((growing - shrinking).rounded(), x);
}

double cosh(double x) {
  const double a = std::fabs(x);
  if (x != x) return x;
  if (a > 40.0) return half_exponential(a);
  const auto [growing, shrinking] = halves(a);
  return (growing + shrinking).rounded();
}

double tanh(double x) {
  const double a = std::fabs(x);
  if (x != x || a < tiny) return x;
  if (a > 22.0) return with_sign(1.0, x);
  if (a <= series_end) return with_sign((series_sinh(a) / series_cosh(a)).rounded(), x);
  const Exponential parts = exponential(-2.0 * a);
  const double scale = power_of_two(parts.k);
  const Wide e = {parts.value.high * scale, parts.value.low * scale};
  return with_sign(((-e + 1.0) / (e + 1.0)).rounded(), x);
}

// log(a + √(a² + 1)) = log(1 + a + a²/(1 + √(a² + 1)))
double asinh(double x) {
  const double a = std::fabs(x);
  if (x != x || a < tiny || a == infinity) return x;
  if (a > large) return with_sign(log_of_twice(a), x);
  const Wide square = exact_product(a, a);
  const Wide root = sqrt(square + 1.0);
  return with_sign(logarithm_of_one_plus(square / (root + 1.0) + a).rounded(), x);
}

// log(x + √(x² − 1)) = log(1 + t + √(2t + t²)) with t = x − 1
double acosh(double x) {
  if (x != x || x == infinity) return x;
  if (x < 1.0) return not_a_number;
  if (x == 1.0) return 0.0;
  if (x > large) return log_of_twice(x);
  const Wide t = exact_sum(x, -1.0);
  const Wide root = sqrt(t * (t + 2.0));
  return logarithm_of_one_plus(t + root).rounded();
}

// log((1 + a)/(1 − a))/2 = log(1 + 2a/(1 − a))/2
double atanh(double x) {
  const double a = std::fabs(x);
  if (x != x || a < tiny) return x;
  if (a > 1.0) return not_a_number;
  if (a == 1.0) return with_sign(infinity, x);
  const Wide quotient = Wide(2.0 * a) / exact_sum(1.0, -a);
  return with_sign(0.5 * logarithm_of_one_plus(quotient).rounded(), x);
}

}  // namespace driftscope::portable
