// Which nodes depend on constants alone: their results are the same in every run. Clients: recording, verify,
// compare, topology, folding.
#pragma once

#include <vector>

#include "core/graph/graph.hpp"

namespace driftscope {

/// Whether a node with these inputs draws no random numbers and has no body, so that constant inputs make
/// constant outputs.
[[nodiscard]] bool is_deterministic(const Node& node);

/// By node: whether it reads only initializers and the outputs of such nodes. None in a graph where all do.
[[nodiscard]] std::vector<bool> constant_nodes(const Graph& graph);

}  // namespace driftscope
