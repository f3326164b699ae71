// A model whose computation starts at one of its values instead of before it. Client: causal_test.
#pragma once

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// `value`, an output of a node, becomes an input of the graph; nodes and inputs that nothing needs any more
/// are left out. Names stay. Errors: no such value, or it is no node's; nothing depends on it.
[[nodiscard]] Result<Graph> cut_at(const Graph& graph, const std::string& value);

}  // namespace driftscope
