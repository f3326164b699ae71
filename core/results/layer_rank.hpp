// Which layers of a comparison are worth looking at first, and which took longest.
// Clients: text tables, report.
#pragma once

#include <vector>

#include "core/results/layer_table.hpp"

namespace driftscope {

/// The rank of a layer among those to show, larger first: faults before suspects before differences;
/// faults and first divergences by their place in the graph, others by what they add to the error.
struct LayerRank {
  /// 6: fault, 5: suspect, 4: unjudged, 3: a first divergence, 2: adds to the error, 1: hands it on,
  /// 0: identical, or a constant
  int tier = 0;
  double weight = 0.0;
  std::size_t target = 0;  ///< where it is worst
};
inline constexpr int fault_tier = 6;
/// From here on the layer itself adds an error: it is wrong, or rounds.
inline constexpr int own_error_tier = 2;

[[nodiscard]] LayerRank rank_of(const LayerTable& layers, std::size_t row);

struct RankedLayer {
  LayerRank rank;
  std::size_t row = 0;
};
/// All rows by descending rank; equal ones as in the graph.
[[nodiscard]] std::vector<RankedLayer> ranked_layers(const LayerTable& layers);

/// The rows that took longest, by the largest share of any target's time; without those of unknown time.
[[nodiscard]] std::vector<std::size_t> slowest_layers(const LayerTable& layers);

/// Noise ÷ signal as measured by a source, root mean square: 10^(−SQNR/20).
[[nodiscard]] double relative_error(const ResultCell& cell, MetricSource source);

}  // namespace driftscope
