// Robust figures for the times of a bench, with intervals that assume no distribution.
// Clients: bench_run, the views. Pure functions; nothing here measures.
//
// Times of one slice share the state of the machine, so that they are not independent samples:
// intervals are taken over rounds, each of which counts once.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace driftscope {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// A figure with the interval that covers the true one with the confidence asked for. No interval:
/// there are too few values for any.
struct Estimate {
  double value = 0.0;
  std::optional<Interval> interval = std::nullopt;
};

/// Of at least one value; the mean of the two in the middle.
[[nodiscard]] double median(std::span<const double> values);

/// The smallest value that at least the share p in (0, 1] of all do not exceed (nearest rank).
[[nodiscard]] double quantile(std::span<const double> values, double p);

/// Median of the distances from the median (not scaled to a standard deviation).
[[nodiscard]] double median_absolute_deviation(std::span<const double> values);

/// Interval of the median from order statistics (David and Nagaraja, Order Statistics, 7.1): from the
/// k-th smallest to the k-th largest value, k as large as the confidence allows. Nothing when even the
/// whole range is not enough: at 95 % below 6 values.
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> values, double confidence);

/// How many times as large `numerator` is, from pairs measured side by side: the Hodges–Lehmann
/// estimate of ln(n/d) with the interval of Wilcoxon's signed rank test (Hollander, Wolfe and Chicken,
/// Nonparametric Statistical Methods, 3.2 and 3.3). Values must be positive; pairs beyond the shorter
/// list are left out. Nothing without a pair.
[[nodiscard]] std::optional<Estimate> paired_ratio(std::span<const double> numerator,
                                                   std::span<const double> denominator, double confidence);

/// Geometric mean of independent ratios; the widths of their intervals, in logarithms, add as squares.
/// No interval when one of them has none; nothing without a ratio.
[[nodiscard]] std::optional<Estimate> geometric_mean(std::span<const Estimate> ratios);

}  // namespace driftscope
