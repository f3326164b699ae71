#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/statistics/distributions.hpp"

namespace driftscope {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

double middle_of(const std::vector<double>& ascending) {
  const std::size_t n = ascending.size();
  return n % 2 == 1 ? ascending[n / 2] : (ascending[n / 2 - 1] + ascending[n / 2]) / 2;
}

/// The range without the `cut` smallest and the `cut` largest values; nothing when cut is negative.
std::optional<Interval> without_ends(const std::vector<double>& ascending, std::int64_t cut) {
  if (cut < 0 || ascending.empty()) return std::nullopt;
  const auto last = static_cast<std::int64_t>(ascending.size()) - 1;
  cut = std::min(cut, last / 2);
  return Interval{ascending[static_cast<std::size_t>(cut)], ascending[static_cast<std::size_t>(last - cut)]};
}

}  // namespace

double median(std::span<const double> values) {
  assert(!values.empty());
  return middle_of(sorted(values));
}

double quantile(std::span<const double> values, double p) {
  assert(!values.empty());
  const std::vector<double> ascending = sorted(values);
  // Slightly less, so that 0.95 × 20 is 19 although 0.95 is not a binary fraction.
  const double rank = std::ceil(p * static_cast<double>(ascending.size()) - 1e-9);
  const auto index =
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(rank) - 1, 0, std::ssize(ascending) - 1);
  return ascending[static_cast<std::size_t>(index)];
}

double median_absolute_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::fabs(value - center));
  return median(distances);
}

std::optional<Interval> median_interval(std::span<const double> values, double confidence) {
  // P(the k-th smallest lies above the median) = P(B ≤ k − 1), B binomial(n, ½); the same at the other end.
  const auto n = static_cast<std::int64_t>(values.size());
  return without_ends(sorted(values), fair_binomial_bound(n, (1.0 - confidence) / 2));
}

std::optional<Estimate> paired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                                     double confidence) {
  const std::size_t n = std::min(numerator.size(), denominator.size());
  if (n == 0) return std::nullopt;
  std::vector<double> logs;
  for (std::size_t i = 0; i < n; ++i) logs.push_back(std::log(numerator[i] / denominator[i]));
  std::vector<double> averages;  // Walsh averages: of every pair, including each value with itself
  averages.reserve(n * (n + 1) / 2);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) averages.push_back((logs[i] + logs[j]) / 2);
  std::ranges::sort(averages);
  Estimate estimate{std::exp(middle_of(averages))};
  const std::int64_t cut = signed_rank_bound(static_cast<std::int64_t>(n), (1.0 - confidence) / 2);
  if (const auto interval = without_ends(averages, cut))
    estimate.interval = Interval{std::exp(interval->low), std::exp(interval->high)};
  return estimate;
}

std::optional<Estimate> geometric_mean(std::span<const Estimate> ratios) {
  if (ratios.empty()) return std::nullopt;
  const auto n = static_cast<double>(ratios.size());
  double sum = 0.0;
  double below = 0.0;
  double above = 0.0;
  bool all_known = true;
  for (const Estimate& ratio : ratios) {
    sum += std::log(ratio.value);
    all_known = all_known && ratio.interval.has_value();
    if (!ratio.interval) continue;
    below += std::pow(std::log(ratio.value / ratio.interval->low), 2);
    above += std::pow(std::log(ratio.interval->high / ratio.value), 2);
  }
  Estimate mean{std::exp(sum / n)};
  if (all_known)
    mean.interval = Interval{std::exp((sum - std::sqrt(below)) / n), std::exp((sum + std::sqrt(above)) / n)};
  return mean;
}

}  // namespace driftscope
