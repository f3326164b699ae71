// A stable sort by a number. Not std::stable_sort: Clang warns of what libstdc++ does in it. Clients:
// whatever ranks a few things.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace driftscope {

/// By ascending `rank(item)`, an int; items of equal rank keep their order.
template <class T, class Rank>
void sort_stably(std::vector<T>& items, const Rank& rank) {
  std::vector<std::pair<int, std::size_t>> order;
  for (std::size_t i = 0; i < items.size(); ++i) order.emplace_back(rank(items[i]), i);
  std::ranges::sort(order);
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const auto& [at, i] : order) sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
}

}  // namespace driftscope
