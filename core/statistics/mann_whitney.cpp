#include "core/statistics/mann_whitney.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/statistics/ranks.hpp"

namespace driftscope {
namespace {

constexpr double most_rank_sum_steps = 2e9;

/// Steps of the table below, in terms of both sizes.
double rank_sum_steps(std::size_t smaller, std::size_t all) {
  return static_cast<double>(all) * static_cast<double>(smaller) * static_cast<double>(smaller) *
         static_cast<double>(all) * 2;
}

bool is_cheap(std::size_t smaller, std::size_t larger) {
  return larger <= 50 || (smaller <= 8 && smaller + larger <= 1000);
}

/// P(sum ≤ observed) and P(sum ≥ observed) of `chosen` of the ranks, all choices equally likely: counts of
/// the choices by number and sum, as shares of all so that no count overflows.
double exact_rank_sum_p(Alternative alternative, std::span<const std::int64_t> doubled, std::size_t chosen,
                        std::int64_t observed) {
  const std::int64_t step = rank_step(doubled);
  std::vector<std::int64_t> ranks(doubled.begin(), doubled.end());
  for (std::int64_t& rank : ranks) rank /= step;
  std::ranges::sort(ranks);
  const auto largest = static_cast<std::size_t>(
      std::accumulate(ranks.end() - static_cast<std::ptrdiff_t>(chosen), ranks.end(), std::int64_t{0}));
  // chances[k][s]: that after the ranks so far, k are chosen with the sum s, each rank being chosen with the
  // probability (still to choose) ÷ (still to come), which makes all choices equally likely.
  std::vector<std::vector<double>> chances(chosen + 1, std::vector<double>(largest + 1, 0.0));
  chances[0][0] = 1.0;
  std::int64_t so_far = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    const auto left = static_cast<double>(ranks.size() - i);
    so_far += ranks[i];
    const std::size_t reached = std::min(largest, static_cast<std::size_t>(so_far));
    for (std::size_t k = std::min(chosen, i + 1) + 1; k-- > 0;) {
      const double stays = 1.0 - static_cast<double>(chosen - k) / left;
      const double comes = k > 0 ? static_cast<double>(chosen - k + 1) / left : 0.0;
      for (std::size_t s = reached + 1; s-- > 0;) {
        double chance = chances[k][s] * stays;
        if (k > 0 && s >= rank) chance += chances[k - 1][s - rank] * comes;
        chances[k][s] = chance;
      }
    }
  }
  const auto sum = static_cast<std::size_t>(observed / step);
  double at_most = 0.0;
  double at_least = 0.0;
  for (std::size_t s = 0; s <= sum; ++s) at_most += chances[chosen][s];
  for (std::size_t s = largest + 1; s-- > sum;) at_least += chances[chosen][s];
  return p_of_tails(alternative, at_most, at_least);
}

Alternative turned_round(Alternative alternative) {
  if (alternative == Alternative::two_sided) return alternative;
  return alternative == Alternative::less ? Alternative::greater : Alternative::less;
}

}  // namespace

Result<MannWhitney> mann_whitney(std::span<const double> a, std::span<const double> b,
                                 const MannWhitneyOptions& options) {
  assert(!a.empty() && !b.empty());
  std::vector<double> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  const Ranks ranks = doubled_ranks(both);
  const auto middle = ranks.doubled.begin() + std::ssize(a);
  const std::int64_t sum_a = std::accumulate(ranks.doubled.begin(), middle, std::int64_t{0});
  const std::int64_t sum_b = std::accumulate(middle, ranks.doubled.end(), std::int64_t{0});
  const auto m = static_cast<double>(a.size());
  const auto n = static_cast<double>(b.size());
  MannWhitney result{
      .u = static_cast<double>(sum_a) / 2 - m * (m + 1) / 2, .p = {}, .ties = ranks.tie_sum > 0};
  const std::size_t smaller = std::min(a.size(), b.size());
  if (options.method == PValueMethod::exact && rank_sum_steps(smaller, both.size()) > most_rank_sum_steps)
    return limit_error(fmt::format(
        "Mann and Whitney's test: exact p values of {} and {} values would take minutes; leave --method out",
        a.size(), b.size()));
  result.p.exact = options.method == PValueMethod::exact || (options.method == PValueMethod::automatic &&
                                                             is_cheap(smaller, std::max(a.size(), b.size())));
  if (result.p.exact) {
    // The smaller sample has the smaller table; if it is b, large sums stand for small values of a.
    result.p.p = a.size() <= b.size()
                     ? exact_rank_sum_p(options.alternative, ranks.doubled, a.size(), sum_a)
                     : exact_rank_sum_p(turned_round(options.alternative), ranks.doubled, b.size(), sum_b);
    return result;
  }
  const double all = m + n;
  const double variance = m * n / 12 * (all + 1 - ranks.tie_sum / (all * (all - 1)));
  result.p.p = normal_p(options.alternative, result.u, m * n / 2, std::sqrt(std::max(0.0, variance)));
  return result;
}

}  // namespace driftscope
