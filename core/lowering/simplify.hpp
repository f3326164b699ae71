// The graph that an engine lowers, of the one that it was given, and what of it may go afterwards.
// Clients: engines with a lowering.
#pragma once

#include <memory>

#include "core/graph/graph.hpp"
#include "core/lowering/plan.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::lowering {

/// A copy whose values keep their numbers. With `fuse` constants are folded, identities removed, pads and
/// batch normalizations joined with their convolutions, and Gelu's nodes become one.
[[nodiscard]] std::shared_ptr<Graph> simplified(std::shared_ptr<const Graph> graph, bool fuse,
                                                ThreadPool& threads);

/// Once lowered: the engine has packed its weights, and those of the graph need not be kept beside them.
/// What stays is read now, since kernels may ask for it on any thread.
void release_constants(Graph& graph, const Plan& plan);

}  // namespace driftscope::lowering
