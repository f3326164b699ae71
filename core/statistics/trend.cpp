#include "core/statistics/trend.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/statistics/distributions.hpp"

namespace driftscope {
namespace {

constexpr double min_drift = 0.005;
// Slopes of all pairs are quadratic; more points than this are thinned evenly.
constexpr std::size_t max_points = 400;

}  // namespace

bool is_steady(std::span<const double> slice_medians) {
  if (slice_medians.size() < steady_window) return false;
  const auto window = slice_medians.last(steady_window);
  const double drift =
      std::fabs(median(window.first(steady_window / 2)) - median(window.last(steady_window / 2)));
  return drift <= std::max(median_absolute_deviation(window), min_drift * median(window));
}

std::optional<Estimate> slope(std::span<const double> x, std::span<const double> y, double confidence) {
  assert(x.size() == y.size());
  if (x.size() < 2) return std::nullopt;
  const std::size_t step = (x.size() + max_points - 1) / max_points;
  std::vector<double> slopes;
  std::int64_t points = 0;
  for (std::size_t i = 0; i < x.size(); i += step) {
    ++points;
    for (std::size_t j = i + step; j < x.size(); j += step) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
  }
  std::ranges::sort(slopes);
  Estimate estimate{median(slopes)};
  // As many slopes lie below the true one as a random permutation has inversions.
  const std::int64_t cut = inversions_bound(points, (1.0 - confidence) / 2);
  if (cut >= 0) {
    const auto last = static_cast<std::int64_t>(slopes.size()) - 1;
    const auto low = static_cast<std::size_t>(std::min(cut, last / 2));
    estimate.interval = Interval{slopes[low], slopes[slopes.size() - 1 - low]};
  }
  return estimate;
}

}  // namespace driftscope
