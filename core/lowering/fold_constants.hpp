// Computes once what does not depend on the inputs. Client: simplify.cpp.
#pragma once

#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::lowering {

/// The graph with the values of Constant nodes as such: operators ask for bounds, pads and weights that
/// some exporters write so.
[[nodiscard]] Graph name_constants(Graph graph, ThreadPool& threads);

/// The graph with the outputs of nodes that read constants only as constants, by the strict kernels. The
/// nodes stay. What draws random numbers, or fails, is left alone.
[[nodiscard]] Graph fold_constants(Graph graph, ThreadPool& threads);

}  // namespace driftscope::lowering
