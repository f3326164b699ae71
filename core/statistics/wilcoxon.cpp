#include "core/statistics/wilcoxon.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <vector>

#include "core/statistics/ranks.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t wilcoxon_exact_limit = 1000;  // 2⁻ⁿ and the table of sums stay within bounds

/// Each rank is in the sum or not, with equal chances.
double exact_signed_rank_p(Alternative alternative, std::span<const std::int64_t> doubled,
                           std::int64_t w_plus) {
  const std::int64_t step = rank_step(doubled);
  std::vector<double> chances = {1.0};
  for (const std::int64_t rank : doubled) {
    const auto by = static_cast<std::size_t>(rank / step);
    chances.resize(chances.size() + by, 0.0);
    for (std::size_t s = chances.size(); s-- > 0;)
      chances[s] = (chances[s] + (s >= by ? chances[s - by] : 0.0)) / 2;
  }
  const auto observed = static_cast<std::size_t>(w_plus / step);
  double at_most = 0.0;
  double at_least = 0.0;
  for (std::size_t s = 0; s <= observed; ++s) at_most += chances[s];
  for (std::size_t s = chances.size(); s-- > observed;) at_least += chances[s];
  return p_of_tails(alternative, at_most, at_least);
}

/// Σ i² for i to n, times 6.
double squares(double n) { return n * (n + 1) * (2 * n + 1); }

}  // namespace

Result<Wilcoxon> wilcoxon(std::span<const double> a, std::span<const double> b,
                          const WilcoxonOptions& options) {
  assert(a.size() == b.size() && !a.empty());
  Wilcoxon result;
  result.n = std::ssize(a);
  const bool pratt = options.zeros == ZeroDifferences::pratt;
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] - b[i];
    if (difference == 0) ++result.zeros;
    if (difference == 0 && !pratt) continue;
    sizes.push_back(std::fabs(difference));
    positive.push_back(difference > 0);
  }
  const Ranks all = doubled_ranks(sizes);
  std::vector<std::int64_t> ranks;
  std::int64_t plus = 0;
  std::int64_t minus = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) continue;
    ranks.push_back(all.doubled[i]);
    (positive[i] ? plus : minus) += all.doubled[i];
  }
  const std::int64_t used = std::ssize(ranks);
  if (used == 0) {
    result.p.exact = true;
    return result;
  }
  result.w_plus = static_cast<double>(plus) / 2;
  result.w_minus = static_cast<double>(minus) / 2;
  result.rank_biserial = (result.w_plus - result.w_minus) / (result.w_plus + result.w_minus);
  if (options.method == PValueMethod::exact && used > wilcoxon_exact_limit)
    return limit_error(
        fmt::format("Wilcoxon's test: exact p values are for at most {} pairs that differ, here are {}; "
                    "leave --method out",
                    wilcoxon_exact_limit, used));
  result.p.exact = options.method == PValueMethod::exact ||
                   (options.method == PValueMethod::automatic && used <= wilcoxon_exact_up_to);
  if (result.p.exact) {
    result.p.p = exact_signed_rank_p(options.alternative, ranks, plus);
    return result;
  }
  // Pratt's ranks lack those of the zeros, which tie among themselves.
  const double n = static_cast<double>(sizes.size());
  const double zeros = pratt ? static_cast<double>(result.zeros) : 0.0;
  const double ties = all.tie_sum - (zeros * zeros * zeros - zeros);
  const double mean = (n * (n + 1) - zeros * (zeros + 1)) / 4;
  const double variance = (squares(n) - squares(zeros) - ties / 2) / 24;
  result.p.p = normal_p(options.alternative, result.w_plus, mean, std::sqrt(variance));
  return result;
}

}  // namespace driftscope
