#include "core/statistics/ranks.hpp"

#include <algorithm>
#include <numeric>

namespace driftscope {

Ranks doubled_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  Ranks ranks;
  ranks.doubled.resize(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    // Ranks begin + 1 to end: their mean, twice.
    for (std::size_t i = begin; i < end; ++i)
      ranks.doubled[order[i]] = static_cast<std::int64_t>(begin + 1 + end);
    const auto equal = static_cast<double>(end - begin);
    ranks.tie_sum += equal * (equal * equal - 1);
    begin = end;
  }
  return ranks;
}

std::int64_t rank_step(std::span<const std::int64_t> doubled) {
  return std::ranges::any_of(doubled, [](std::int64_t rank) { return rank % 2 != 0; }) ? 1 : 2;
}

}  // namespace driftscope
