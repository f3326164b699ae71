#include "core/quantize/lookup_table.hpp"

#include <algorithm>

namespace driftscope::quantize {
namespace {

constexpr int most_rounds = 300;  // as scikit-learn's max_iter

/// Sorted values, and their sums up to each place: the mean of a range costs nothing.
struct Sorted {
  explicit Sorted(std::span<const float> given) : values(given.begin(), given.end()) {
    std::ranges::sort(values);
    sums.push_back(0.0);
    squares.push_back(0.0);
    for (const float x : values) {
      sums.push_back(sums.back() + static_cast<double>(x));
      squares.push_back(squares.back() + static_cast<double>(x) * static_cast<double>(x));
    }
  }
  [[nodiscard]] double mean(std::size_t begin, std::size_t end) const {
    return (sums[end] - sums[begin]) / static_cast<double>(end - begin);
  }
  /// Σ(x − centre)².
  [[nodiscard]] double spread(std::size_t begin, std::size_t end, double centre) const {
    return squares[end] - squares[begin] - 2.0 * centre * (sums[end] - sums[begin]) +
           centre * centre * static_cast<double>(end - begin);
  }
  std::vector<float> values;
  std::vector<double> sums;
  std::vector<double> squares;
};

struct Clusters {
  std::vector<double> centres;
  double squared_error = 0.0;
};

Clusters lloyd(const Sorted& sorted, std::vector<double> centres) {
  const std::size_t n = sorted.values.size();
  Clusters made;
  std::vector<std::size_t> ends;
  for (int round = 0; round < most_rounds; ++round) {
    // Values belong to the nearest centre: ranges that meet halfway between two.
    std::vector<std::size_t> now;
    for (std::size_t k = 0; k + 1 < centres.size(); ++k) {
      const double middle = 0.5 * (centres[k] + centres[k + 1]);
      now.push_back(static_cast<std::size_t>(
          std::partition_point(sorted.values.begin(), sorted.values.end(),
                               [&](float x) { return static_cast<double>(x) <= middle; }) -
          sorted.values.begin()));
    }
    now.push_back(n);
    if (now == ends) break;
    ends = std::move(now);
    std::size_t begin = 0;
    for (std::size_t k = 0; k < centres.size(); ++k) {
      if (ends[k] > begin) centres[k] = sorted.mean(begin, ends[k]);
      begin = std::max(begin, ends[k]);
    }
  }
  std::size_t begin = 0;
  for (std::size_t k = 0; k < centres.size(); ++k) {
    if (ends[k] > begin) {
      made.squared_error += std::max(0.0, sorted.spread(begin, ends[k], centres[k]));
      made.centres.push_back(centres[k]);
    }
    begin = std::max(begin, ends[k]);
  }
  return made;
}

}  // namespace

LookupTable lookup_table(std::span<const float> values, std::size_t entries) {
  LookupTable made;
  if (values.empty()) return made;
  const Sorted sorted(values);
  const std::size_t n = sorted.values.size();
  std::vector<float> distinct = sorted.values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() <= entries) {
    made.table = std::move(distinct);
  } else {
    std::vector<double> quantiles;
    std::vector<double> grid;
    const auto low = static_cast<double>(sorted.values.front());
    const auto high = static_cast<double>(sorted.values.back());
    for (std::size_t k = 0; k < entries; ++k) {
      quantiles.push_back(static_cast<double>(sorted.values[(2 * k + 1) * n / (2 * entries)]));
      grid.push_back(low + (high - low) * (static_cast<double>(k) + 0.5) / static_cast<double>(entries));
    }
    const Clusters a = lloyd(sorted, std::move(quantiles));
    const Clusters b = lloyd(sorted, std::move(grid));
    const Clusters& best = b.squared_error < a.squared_error ? b : a;
    for (const double centre : best.centres) made.table.push_back(static_cast<float>(centre));
  }
  made.indices.reserve(n);
  for (const float x : values) {
    // The nearest entry, the lower of two at the same distance.
    const auto above = std::ranges::lower_bound(made.table, x);
    auto at = static_cast<std::size_t>(above - made.table.begin());
    if (at == made.table.size() ||
        (at > 0 && static_cast<double>(x) - static_cast<double>(made.table[at - 1]) <=
                       static_cast<double>(made.table[at]) - static_cast<double>(x)))
      --at;
    made.indices.push_back(static_cast<std::uint8_t>(at));
    const double error = static_cast<double>(x) - static_cast<double>(made.table[at]);
    made.squared_error += error * error;
  }
  return made;
}

}  // namespace driftscope::quantize
