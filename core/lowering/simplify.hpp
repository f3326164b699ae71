// Prepares the graph that an engine lowers, and releases weights afterwards.
// Clients: engines with a lowering.
#pragma once

#include <memory>

#include "core/graph/graph.hpp"
#include "core/lowering/plan.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::lowering {

/// A copy whose values keep their numbers, with constants folded. With `fuse` identities are removed, pads
/// and batch normalizations joined with their convolutions, and Gelu's nodes become one.
[[nodiscard]] std::shared_ptr<Graph> simplified(std::shared_ptr<const Graph> graph, bool fuse,
                                                ThreadPool& threads);

/// After lowering: the engine has packed its weights, and the graph need not keep them too.
/// The rest is loaded now, since kernels may read it on any thread.
void release_constants(Graph& graph, const Plan& plan);

}  // namespace driftscope::lowering
