// Deferred constants come into memory. Clients: the session, for engines that read them otherwise than one
// by one; those that do, for what is left.
#pragma once

#include "core/graph/graph.hpp"

namespace driftscope {

/// All of the graph and its subgraphs. Throws std::bad_alloc.
void load_constants(const Graph& graph);

}  // namespace driftscope
