#include "core/bench/contrast.hpp"

#include <algorithm>
#include <cmath>

#include "core/statistics/distributions.hpp"

namespace driftscope {
namespace {

constexpr double power = 0.8;
// No machine repeats itself better than this; a smaller spread of a few launches is luck.
constexpr double min_spread = 0.001;

}  // namespace

std::string_view speed_words(RelativeSpeed speed) {
  switch (speed) {
    case RelativeSpeed::faster: return "faster";
    case RelativeSpeed::slower: return "slower";
    case RelativeSpeed::unclear: return "cannot tell";
  }
  return "cannot tell";
}

std::optional<Contrast> contrast(std::span<const double> times_as_fast, double confidence) {
  if (times_as_fast.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(times_as_fast.size());
  double mean = 0.0;
  for (const double ratio : times_as_fast) mean += std::log(ratio) / count;
  double squares = 0.0;
  for (const double ratio : times_as_fast) squares += std::pow(std::log(ratio) - mean, 2);
  const double degrees = count - 1.0;
  const double error = std::max(std::sqrt(squares / degrees), min_spread) / std::sqrt(count);
  const double width = student_quantile(1.0 - (1.0 - confidence) / 2, degrees) * error;
  Contrast result;
  result.times_as_fast = {std::exp(mean), Interval{std::exp(mean - width), std::exp(mean + width)}};
  result.speed = mean > width    ? RelativeSpeed::faster
                 : mean < -width ? RelativeSpeed::slower
                                 : RelativeSpeed::unclear;
  result.visible = std::expm1(width + student_quantile(power, degrees) * error);
  result.launches = times_as_fast.size();
  return result;
}

}  // namespace driftscope
