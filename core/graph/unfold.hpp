// A graph in which the subgraphs that a run went through are nodes like any other: the branch of an If that
// was taken, the iterations of a Loop or Scan that were recorded. What verify judges and compare lines up.
// Clients: verify, compare, the GUI's structure.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "core/graph/control_flow.hpp"

namespace driftscope {

/// Whether the trace holds a value of this name.
using HasValue = std::function<bool(std::string_view)>;

/// Values of `graph` keep their ids. Nodes inside come before their If, Loop or Scan, which remains under its
/// own name as a node of the domain "driftscope" that passes on what they made. What cannot be unfolded stays
/// as it is: a node without a record or whose record does not fit it, an iteration that starts from values
/// that `has` does not know. Several records of a node: an If is unfolded as each of them says, and passes on
/// what the last one did.
[[nodiscard]] Graph unfold(const Graph& graph, std::span<const ControlFlowRecord> records,
                           const HasValue& has);

}  // namespace driftscope
