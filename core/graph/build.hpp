// Model → Graph: resolves names, orders nodes, validates.
// Subgraphs in attributes become graphs of their own; values that they read from outside are captured.
// Afterwards every name is defined once, every input of a node is an earlier output, a graph input or
// an initializer, there is no cycle, every graph output exists, every domain has an opset.
// Whether operators exist and shapes agree is checked in ops (infer_shapes).
#pragma once

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

[[nodiscard]] Result<Graph> build_graph(const Model& model);

}  // namespace driftscope
