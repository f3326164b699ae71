// Loads deferred constants into memory. Clients: the session, for engines that do not read them one by one
// themselves; engines that do, for the constants that remain.
#pragma once

#include "core/graph/graph.hpp"

namespace driftscope {

/// All constants of the graph and its subgraphs. Throws std::bad_alloc.
void load_constants(const Graph& graph);

}  // namespace driftscope
