// Computes once what does not depend on the inputs. Client: simplify.cpp.
#pragma once

#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::lowering {

/// The graph with the outputs of nodes that read constants only as constants, by the strict kernels. The
/// nodes stay. Nodes that draw random numbers, or fail, are left alone.
[[nodiscard]] Graph fold_constants(Graph graph, ThreadPool& threads);

}  // namespace driftscope::lowering
