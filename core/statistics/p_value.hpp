// What all tests of hypotheses share: the alternative, how a p value is computed, and the p value itself.
// Clients: the tests of this folder. Nothing here knows files or words for people.
#pragma once

#include <algorithm>

#include "core/statistics/distributions.hpp"

namespace driftscope {

/// Of the first sample against the second: `less` says that the first tends to smaller values.
enum class Alternative { two_sided, less, greater };

/// automatic: exact where it is cheap, else the normal approximation.
enum class PValueMethod { automatic, exact, approximate };

struct PValue {
  double p = 1.0;
  bool exact = false;
};

/// From the chances of a value at most, and at least, as large as the observed one. Two-sided: twice the
/// smaller, at most 1 (as SciPy and R do, also where the distribution is not symmetric).
[[nodiscard]] inline double p_of_tails(Alternative alternative, double at_most, double at_least) {
  if (alternative == Alternative::less) return std::min(1.0, at_most);
  if (alternative == Alternative::greater) return std::min(1.0, at_least);
  return std::min(1.0, 2 * std::min(at_most, at_least));
}

/// The same for a statistic in steps of 1 with this mean and standard deviation: half a step is the
/// continuity correction. A distribution without width: 1.
[[nodiscard]] inline double normal_p(Alternative alternative, double statistic, double mean,
                                     double deviation) {
  if (!(deviation > 0)) return 1.0;
  return p_of_tails(alternative, normal_tail(-(statistic - mean + 0.5) / deviation),
                    normal_tail((statistic - mean - 0.5) / deviation));
}

}  // namespace driftscope
