// A graph as a model again, with the sizes that it is bound to: for what transforms models (gradients), where
// only the graph is at hand. Client: sensitivity. Tensors are shared, not copied.
#pragma once

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// Errors: nodes with bodies (If, Loop, Scan), which have no form outside their graph.
[[nodiscard]] Result<Model> model_of(const Graph& graph);

}  // namespace driftscope
