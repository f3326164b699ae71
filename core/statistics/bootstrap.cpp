#include "core/statistics/bootstrap.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

#include "core/base/rng.hpp"
#include "core/statistics/distributions.hpp"

namespace driftscope {
namespace {

std::vector<double> resampled(Samples samples, FunctionRef<double(Samples)> statistic,
                              const BootstrapOptions& options) {
  Rng rng(options.seed);
  std::vector<std::vector<double>> drawn(samples.begin(), samples.end());
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(options.resamples));
  for (std::int64_t i = 0; i < options.resamples; ++i) {
    for (std::size_t j = 0; j < drawn.size(); ++j)
      for (double& value : drawn[j]) value = samples[j][rng.below(samples[j].size())];
    values.push_back(statistic(drawn));
  }
  std::ranges::sort(values);
  return values;
}

/// By interpolation between neighbours: rank p · (n − 1), as numpy.quantile.
double interpolated_quantile(const std::vector<double>& ascending, double p) {
  const double rank = std::clamp(p, 0.0, 1.0) * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] + (rank - static_cast<double>(below)) * (ascending[above] - ascending[below]);
}

/// Skewness of the influence of single values, by leaving each out; nothing when none has any.
std::optional<double> acceleration(Samples samples, FunctionRef<double(Samples)> statistic) {
  std::vector<std::vector<double>> rest(samples.begin(), samples.end());
  double cubes = 0.0;
  double squares = 0.0;
  for (std::size_t j = 0; j < samples.size(); ++j) {
    const std::vector<double>& sample = samples[j];
    const auto n = static_cast<double>(sample.size());
    std::vector<double> without;
    rest[j].assign(sample.begin() + 1, sample.end());
    for (std::size_t i = 0; i < sample.size(); ++i) {
      without.push_back(statistic(rest));
      if (i < rest[j].size()) rest[j][i] = sample[i];
    }
    rest[j] = sample;
    double mean = 0.0;
    for (const double value : without) mean += value / n;
    for (const double value : without) {
      const double influence = (n - 1) * (mean - value) / n;
      cubes += influence * influence * influence;
      squares += influence * influence;
    }
  }
  if (!(squares > 0)) return std::nullopt;
  return cubes / (6 * std::pow(squares, 1.5));
}

}  // namespace

BootstrapInterval bootstrap_interval(Samples samples, FunctionRef<double(Samples)> statistic,
                                     const BootstrapOptions& options) {
  assert(options.resamples > 0 && options.confidence > 0 && options.confidence < 1);
  BootstrapInterval result;
  result.value = statistic(samples);
  const std::vector<double> values = resampled(samples, statistic, options);
  double low = (1 - options.confidence) / 2;
  double high = 1 - low;
  if (options.kind == BootstrapKind::bca) {
    const auto equal = std::ranges::equal_range(values, result.value);
    const double below =
        (static_cast<double>(equal.begin() - values.begin()) + static_cast<double>(equal.size()) / 2) /
        static_cast<double>(values.size());
    const std::optional<double> bent = acceleration(samples, statistic);
    if (below > 0 && below < 1 && bent) {
      const double bias = normal_quantile(below);
      const auto corrected = [&](double p) {
        const double z = bias + normal_quantile(p);
        return normal_tail(-(bias + z / (1 - *bent * z)));
      };
      low = corrected(low);
      high = corrected(high);
      result.kind = BootstrapKind::bca;
    }
  }
  result.interval = {interpolated_quantile(values, low), interpolated_quantile(values, high)};
  return result;
}

}  // namespace driftscope
