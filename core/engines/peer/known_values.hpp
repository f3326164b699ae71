// Constants that nodes compute from constants and from shapes bound by now, for a runtime that gets our graph
// and wants axes, sizes and scales as numbers when it is built. Client: peer_engine.cpp.
#pragma once

#include <memory>

#include "core/graph/graph.hpp"

namespace driftscope::peer {

/// The graph with small values (up to 4 KiB) that do not depend on its inputs as constants; larger ones, as
/// weights that a node transforms, are left to the runtime. The nodes stay.
[[nodiscard]] std::shared_ptr<const Graph> with_known_values(const std::shared_ptr<const Graph>& graph);

}  // namespace driftscope::peer
