#include "core/bench/noise.hpp"

#include <algorithm>
#include <cmath>

#include "core/statistics/distributions.hpp"

namespace driftscope {
namespace {

// No machine repeats itself better than this; a smaller spread of three runs is luck.
constexpr double min_noise = 0.002;

double mean_log(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += std::log(value);
  return sum / static_cast<double>(values.size());
}

}  // namespace

Noise noise_between_runs(std::span<const BuildTimes> builds) {
  Noise noise;
  double squares = 0.0;
  for (const BuildTimes& one : builds) {
    if (one.medians_ns.size() < 2) continue;
    const double mean = mean_log(one.medians_ns);
    for (const double value : one.medians_ns) squares += std::pow(std::log(value) - mean, 2);
    noise.degrees += static_cast<int>(one.medians_ns.size()) - 1;
  }
  if (noise.degrees > 0) noise.relative = std::max(std::sqrt(squares / noise.degrees), min_noise);
  return noise;
}

std::vector<BuildChange> classify_changes(std::span<const BuildTimes> builds, double confidence) {
  const Noise noise = noise_between_runs(builds);
  std::vector<BuildChange> changes;
  for (std::size_t i = 0; i < builds.size(); ++i) {
    BuildChange change;
    if (i > 0) {
      const auto& before = builds[i - 1].medians_ns;
      const auto& now = builds[i].medians_ns;
      const double difference = mean_log(now) - mean_log(before);
      change.times_as_long = {std::exp(difference)};
      change.change = Change::unknown;
      if (noise.known()) {
        const double width =
            student_quantile(1.0 - (1.0 - confidence) / 2, noise.degrees) * noise.relative *
            std::sqrt(1.0 / static_cast<double>(now.size()) + 1.0 / static_cast<double>(before.size()));
        change.times_as_long.interval = Interval{std::exp(difference - width), std::exp(difference + width)};
        change.change = difference > width    ? Change::slower
                        : difference < -width ? Change::faster
                                              : Change::same;
      }
    }
    changes.push_back(change);
  }
  return changes;
}

}  // namespace driftscope
