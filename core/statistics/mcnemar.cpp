#include "core/statistics/mcnemar.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {

McNemar mcnemar(const PairedAnswers& answers, Alternative alternative, PValueMethod method) {
  const std::int64_t a = answers.only_a;
  const std::int64_t n = a + answers.only_b;
  McNemar result;
  if (answers.only_b > 0) result.odds_ratio = static_cast<double>(a) / static_cast<double>(answers.only_b);
  result.p.exact =
      method == PValueMethod::exact || (method == PValueMethod::automatic && n <= mcnemar_exact_up_to);
  if (result.p.exact) {
    result.statistic = static_cast<double>(std::min(a, answers.only_b));
    // P(B ≥ a) = P(B ≤ n − a) for fair throws.
    result.p.p = p_of_tails(alternative, fair_binomial(a, n), fair_binomial(n - a, n));
    return result;
  }
  const double difference = std::fabs(static_cast<double>(a - answers.only_b));
  const double corrected = std::max(0.0, difference - 1);
  if (n > 0) result.statistic = corrected * corrected / static_cast<double>(n);
  // χ² with 1 degree of freedom is the square of a normal; half a step of a is one of the difference.
  result.p.p = normal_p(alternative, static_cast<double>(a), static_cast<double>(n) / 2,
                        std::sqrt(static_cast<double>(n)) / 2);
  return result;
}

}  // namespace driftscope
