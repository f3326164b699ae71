// Nodes that move no element: Reshape, Flatten, Squeeze, Unsqueeze, Identity, and Dropout outside training.
// Clients: the operators of engines (fast, gpu), which say what values lie in their memory.
#pragma once

#include "core/lowering/graph_lowering.hpp"

namespace driftscope::lowering {

/// Whether an engine holds the value itself.
using HoldsValue = bool (*)(const GraphLowering& lowering, ValueId id);

/// Makes output 0 another view of input 0's memory; false where the engine must not take the node.
[[nodiscard]] Result<bool> lower_view(GraphLowering& lowering, const Node& node, HoldsValue holds);

/// The same of Dropout; false in training mode, which draws random numbers.
[[nodiscard]] Result<bool> lower_dropout(GraphLowering& lowering, const Node& node, HoldsValue holds);

}  // namespace driftscope::lowering
