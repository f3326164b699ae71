// Ranks of values, equal ones sharing the mean of their ranks. Doubled, they are whole numbers, over which
// permutation distributions can be summed exactly. Clients: the rank tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace driftscope {

struct Ranks {
  std::vector<std::int64_t> doubled;  ///< twice the rank, from 2 on, in the order of the values
  double tie_sum = 0.0;               ///< Σ t³ − t over groups of t equal values: 0 without ties
};

/// Of finite values.
[[nodiscard]] Ranks doubled_ranks(std::span<const double> values);

/// The largest step that divides all: 2 for whole ranks, 1 with halves. At least one value.
[[nodiscard]] std::int64_t rank_step(std::span<const std::int64_t> doubled);

}  // namespace driftscope
