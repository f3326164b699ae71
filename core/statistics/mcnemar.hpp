// McNemar's test: is one of two classifiers right more often on the same samples? Only the samples on which
// one is right and the other wrong tell. Sources: McNemar 1947; Edwards 1948 for the continuity correction;
// Fagerland, Lydersen and Laake 2013, "The McNemar test for binary matched-pairs data".
#pragma once

#include <cstdint>
#include <optional>

#include "core/statistics/p_value.hpp"

namespace driftscope {

struct PairedAnswers {
  std::int64_t both = 0;    ///< right in both
  std::int64_t only_a = 0;  ///< right in a alone
  std::int64_t only_b = 0;
  std::int64_t neither = 0;
};

struct McNemar {
  double statistic = 0.0;  ///< exact: the smaller of only_a and only_b; else χ²
  PValue p;
  std::optional<double> odds_ratio;  ///< only_a ÷ only_b; none where that divides by 0
};

/// Automatic: exact up to this many samples of which one alone is right.
inline constexpr std::int64_t mcnemar_exact_up_to = 1000;

/// `greater`: a is right more often. Exact by the binomial distribution, else χ² with 1 degree of freedom.
[[nodiscard]] McNemar mcnemar(const PairedAnswers& answers, Alternative alternative = Alternative::two_sided,
                              PValueMethod method = PValueMethod::automatic);

}  // namespace driftscope
