// How much memory a graph needs at least: its constants, and the values that are alive together in a run.
// By the shapes alone, without any engine: one that fuses needs less, one that copies more.
// Client: the check of memory.
#pragma once

#include <cstdint>
#include <string>

#include "core/graph/graph.hpp"

namespace driftscope {

struct GraphMemory {
  std::int64_t constant_bytes = 0;  ///< of all constants, those inside subgraphs included
  std::int64_t peak_bytes = 0;      ///< values alive together, inputs and outputs included
  std::string peak_node = {};       ///< where that is; empty: a graph without nodes
  std::int64_t unknown_values = 0;  ///< whose size does not follow from the inputs: not counted
};

/// Values of a graph whose nodes run in their order; each value lives from its producer to its last reader,
/// those of the graph's interface throughout. Sums that do not fit stay at the largest number.
[[nodiscard]] GraphMemory graph_memory(const Graph& bound);

}  // namespace driftscope
