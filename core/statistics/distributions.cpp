#include "core/statistics/distributions.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace driftscope {
namespace {

constexpr std::int64_t exact_up_to = 60;

/// Smallest x in [low, high] with cumulative(x) ≥ p, cumulative rising.
template <class Cumulative>
double invert(double low, double high, double p, const Cumulative& cumulative) {
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (cumulative(middle) < p ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

/// Continued fraction of the incomplete beta function, by Lentz's method (NIST DLMF 8.17.22).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto keep_off_zero = [](double y) { return std::fabs(y) < tiny ? tiny : y; };
  double c = 1.0;
  double d = 1.0 / keep_off_zero(1.0 - (a + b) * x / (a + 1.0));
  double result = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1.0 / keep_off_zero(1.0 + even * d);
    c = keep_off_zero(1.0 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1.0 / keep_off_zero(1.0 + odd * d);
    c = keep_off_zero(1.0 + odd / c);
    result *= d * c;
    if (std::fabs(d * c - 1.0) < 1e-15) break;
  }
  return result;
}

double student_cumulative(double t, double degrees) {
  const double tail = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
  return t > 0 ? 1.0 - tail : tail;
}

/// Largest k with the sum of chances[0..k] ≤ p; −1 when there is none.
std::int64_t bound_of(const std::vector<double>& chances, double p) {
  double sum = 0.0;
  std::int64_t k = -1;
  for (const double chance : chances) {
    sum += chance;
    if (sum > p) break;
    ++k;
  }
  return k;
}

std::int64_t normal_bound(double mean, double variance, double p) {
  // Continuity correction: a whole number stands for the interval around it.
  const double k = std::floor(mean + normal_quantile(p) * std::sqrt(variance) - 0.5);
  return k < 0 ? -1 : static_cast<std::int64_t>(k);
}

}  // namespace

double normal_tail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double normal_quantile(double p) {
  return invert(-40.0, 40.0, p, [](double x) { return normal_tail(-x); });
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
  return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double beta_quantile(double p, double a, double b) {
  return invert(0.0, 1.0, p, [&](double x) { return incomplete_beta(a, b, x); });
}

double fair_binomial(std::int64_t k, std::int64_t n) {
  if (k < 0) return 0.0;
  if (k >= n) return 1.0;
  // P(B ≤ k) = I_½(n − k, k + 1): NIST DLMF 8.17.5.
  return incomplete_beta(static_cast<double>(n - k), static_cast<double>(k + 1), 0.5);
}

double student_quantile(double p, double degrees) {
  return invert(-1e9, 1e9, p, [&](double t) { return student_cumulative(t, degrees); });
}

std::int64_t fair_binomial_bound(std::int64_t n, double p) {
  // In logarithms: 2⁻ⁿ itself is 0 for n beyond a thousand.
  double log_chance = -static_cast<double>(n) * std::log(2.0);
  double sum = 0.0;
  for (std::int64_t k = 0; k <= n; ++k) {
    sum += std::exp(log_chance);
    if (sum > p) return k - 1;
    log_chance += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
  }
  return n;
}

std::int64_t signed_rank_bound(std::int64_t n, double p) {
  const double x = static_cast<double>(n);
  if (n > exact_up_to) return normal_bound(x * (x + 1) / 4, x * (x + 1) * (2 * x + 1) / 24, p);
  // Each rank is in the sum or not, with equal chances.
  std::vector<double> chances = {1.0};
  for (std::int64_t rank = 1; rank <= n; ++rank) {
    std::vector<double> next(chances.size() + static_cast<std::size_t>(rank), 0.0);
    for (std::size_t s = 0; s < chances.size(); ++s) {
      next[s] += chances[s] / 2;
      next[s + static_cast<std::size_t>(rank)] += chances[s] / 2;
    }
    chances = std::move(next);
  }
  return bound_of(chances, p);
}

std::int64_t inversions_bound(std::int64_t n, double p) {
  const double x = static_cast<double>(n);
  if (n > exact_up_to) return normal_bound(x * (x - 1) / 4, x * (x - 1) * (2 * x + 5) / 72, p);
  // The i-th element precedes 0 to i − 1 of the earlier ones, with equal chances.
  std::vector<double> chances = {1.0};
  for (std::int64_t i = 2; i <= n; ++i) {
    std::vector<double> next(chances.size() + static_cast<std::size_t>(i - 1), 0.0);
    for (std::size_t s = 0; s < chances.size(); ++s)
      for (std::int64_t more = 0; more < i; ++more)
        next[s + static_cast<std::size_t>(more)] += chances[s] / static_cast<double>(i);
    chances = std::move(next);
  }
  return bound_of(chances, p);
}

}  // namespace driftscope
