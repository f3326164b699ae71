#include "core/statistics/rate.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/statistics/distributions.hpp"

namespace driftscope {

Interval wilson_interval(std::int64_t k, std::int64_t n, double confidence) {
  assert(0 <= k && k <= n && n > 0);
  const double z = normal_quantile(0.5 + confidence / 2);
  const auto all = static_cast<double>(n);
  const double rate = static_cast<double>(k) / all;
  const double middle = (rate + z * z / (2 * all)) / (1 + z * z / all);
  const double half = z / (1 + z * z / all) * std::sqrt(rate * (1 - rate) / all + z * z / (4 * all * all));
  // At the ends the formula gives the rate itself, but for rounding.
  return {k == 0 ? 0.0 : std::max(0.0, middle - half), k == n ? 1.0 : std::min(1.0, middle + half)};
}

Interval clopper_pearson_interval(std::int64_t k, std::int64_t n, double confidence) {
  assert(0 <= k && k <= n && n > 0);
  const double tail = (1 - confidence) / 2;
  const auto right = static_cast<double>(k);
  const auto wrong = static_cast<double>(n - k);
  return {k == 0 ? 0.0 : beta_quantile(tail, right, wrong + 1),
          k == n ? 1.0 : beta_quantile(1 - tail, right + 1, wrong)};
}

}  // namespace driftscope
