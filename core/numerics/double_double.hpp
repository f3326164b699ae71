// Numbers of twice the precision of binary64: an unevaluated sum high + low, |low| ≤ ulp(high)/2.
// From + − × ÷ √ of binary64 alone, without FMA, so that every host gives the same bits.
// Clients: portable_math. Not for infinities, NaN, subnormals or anything beyond 2^995 (splitting
// overflows there).
// Source: Dekker 1971, "A floating-point technique for extending the available precision"; Knuth,
// Seminumerical Algorithms, 4.2.2; error bounds: Joldes, Muller and Popescu 2017.
#pragma once

#include <cmath>

namespace driftscope::portable {

struct Wide {
  double high = 0.0;
  double low = 0.0;

  constexpr Wide() = default;
  constexpr Wide(double h, double l = 0.0) : high(h), low(l) {}  // NOLINT: doubles convert

  [[nodiscard]] constexpr double rounded() const { return high + low; }
};

/// a + b exactly, for |a| ≥ |b| or a = 0.
[[nodiscard]] constexpr Wide quick_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// a + b exactly.
[[nodiscard]] constexpr Wide exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// a·b exactly.
[[nodiscard]] constexpr Wide exact_product(double a, double b) {
  // The upper and the lower 26 bits of each factor.
  const double scaled_a = 134217729.0 * a;
  const double scaled_b = 134217729.0 * b;
  const double a1 = scaled_a - (scaled_a - a);
  const double b1 = scaled_b - (scaled_b - b);
  const double a2 = a - a1;
  const double b2 = b - b1;
  const double product = a * b;
  return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

[[nodiscard]] constexpr Wide operator-(Wide x) { return {-x.high, -x.low}; }

[[nodiscard]] constexpr Wide operator+(Wide a, double b) {
  const Wide sum = exact_sum(a.high, b);
  return quick_sum(sum.high, sum.low + a.low);
}

/// A relative error of 3·2⁻¹⁰⁶, also where the terms cancel.
[[nodiscard]] constexpr Wide operator+(Wide a, Wide b) {
  const Wide high = exact_sum(a.high, b.high);
  const Wide low = exact_sum(a.low, b.low);
  const Wide sum = quick_sum(high.high, high.low + low.high);
  return quick_sum(sum.high, sum.low + low.low);
}
[[nodiscard]] constexpr Wide operator-(Wide a, Wide b) { return a + -b; }

[[nodiscard]] constexpr Wide operator*(Wide a, double b) {
  const Wide product = exact_product(a.high, b);
  return quick_sum(product.high, product.low + a.low * b);
}
[[nodiscard]] constexpr Wide operator*(Wide a, Wide b) {
  const Wide product = exact_product(a.high, b.high);
  return quick_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

[[nodiscard]] constexpr Wide operator/(Wide a, Wide b) {
  const double quotient = a.high / b.high;
  const Wide rest = a - b * quotient;
  return quick_sum(quotient, rest.high / b.high);
}

/// √x for x > 0.
[[nodiscard]] inline Wide sqrt(Wide x) {
  const double root = std::sqrt(x.high);
  const Wide rest = x - exact_product(root, root);
  return quick_sum(root, rest.high / (root + root));
}

}  // namespace driftscope::portable
