// Where the nodes of a network are drawn: in ranks from the inputs down, neighbours near each other
// (Sugiyama, Tagawa and Toda 1981: ranks, crossing reduction by barycentres, placement). The work is
// bounded: about linear in nodes and edges, also for 100,000 of them. Clients: graph_picture.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/draw/painter.hpp"

namespace driftscope::gui {

struct GraphEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  /// The x positions in the ranks between; empty for neighbouring ranks.
  std::vector<Point> by;
};

/// In units: a node is 1 wide with a gap of 0.25 to the next, ranks are 1 apart.
struct GraphLayout {
  std::vector<Point> nodes;  ///< centres
  std::vector<GraphEdge> edges;
  std::vector<std::vector<std::uint32_t>> ranks;  ///< nodes of each, from left to right
  float width = 0.0f;
  float height = 0.0f;
};

/// `inputs[i]` are the nodes that node i reads; larger or equal ones (no topological order) are ignored,
/// and the number of bends of long edges is bounded.
[[nodiscard]] GraphLayout layout_graph(std::span<const std::vector<std::uint32_t>> inputs);

}  // namespace driftscope::gui
