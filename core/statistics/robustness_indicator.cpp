#include "core/statistics/robustness_indicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

Status check_rates(std::span<const std::vector<double>> rates) {
  if (rates.empty() || rates.front().empty())
    return bad_input("R needs the success rates of at least one attack on at least one model");
  for (std::size_t k = 0; k < rates.size(); ++k) {
    if (rates[k].size() != rates.front().size())
      return bad_input(
          fmt::format("R needs a rate of each attack on each model: attack {} has {}, expected {}", k + 1,
                      rates[k].size(), rates.front().size()));
    for (std::size_t i = 0; i < rates[k].size(); ++i)
      if (!std::isfinite(rates[k][i]))
        return bad_input(fmt::format(
            "R needs finite success rates: that of attack {} on model {} is {}; leave the model out "
            "or attack it again",
            k + 1, i + 1, rates[k][i]));
  }
  return {};
}

}  // namespace

std::vector<double> min_max_scaled(std::span<const double> values) {
  std::vector<double> scaled(values.size(), 0.0);
  if (values.empty()) return scaled;
  const auto [low, high] = std::ranges::minmax(values);
  if (!(low < high)) return scaled;
  for (std::size_t i = 0; i < values.size(); ++i) scaled[i] = (values[i] - low) / (high - low);
  return scaled;
}

Result<std::vector<double>> robustness_indicators(std::span<const std::vector<double>> success) {
  DRIFTSCOPE_CHECK(check_rates(success));
  std::vector<double> sums(success.front().size(), 0.0);
  for (const std::vector<double>& rates : success) {
    const std::vector<double> scaled = min_max_scaled(rates);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += scaled[i];
  }
  return sums;
}

Result<std::vector<double>> conversion_robustness_indicators(std::span<const std::vector<double>> before,
                                                             std::span<const std::vector<double>> after) {
  DRIFTSCOPE_CHECK(check_rates(before));
  DRIFTSCOPE_CHECK(check_rates(after));
  if (before.size() != after.size() || before.front().size() != after.front().size())
    return bad_input(
        fmt::format("R needs the same attacks and models before and after a conversion: {} by {} "
                    "rates before, {} by {} after",
                    before.size(), before.front().size(), after.size(), after.front().size()));
  std::vector<std::vector<double>> distances(before.size());
  for (std::size_t k = 0; k < before.size(); ++k)
    for (std::size_t i = 0; i < before[k].size(); ++i)
      distances[k].push_back(std::fabs(after[k][i] - before[k][i]));
  return robustness_indicators(distances);
}

}  // namespace driftscope
