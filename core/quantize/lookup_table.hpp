// Weights as a table of a few numbers and the place of each element in it: k-means in one dimension (Lloyd
// 1982). Client: the look-up table modes. Core ML Tools uses scikit-learn's KMeans, which starts at random;
// this one always gives the same table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace driftscope::quantize {

struct LookupTable {
  std::vector<float> table;           ///< ascending, at most as many as asked for
  std::vector<std::uint8_t> indices;  ///< of each value
  double squared_error = 0.0;         ///< summed over the values
};

/// `entries` from 1 to 256; of finite values. With no more distinct values than entries the table is exact.
/// Of two starts, quantiles and an even grid, the better result is taken.
[[nodiscard]] LookupTable lookup_table(std::span<const float> values, std::size_t entries);

}  // namespace driftscope::quantize
