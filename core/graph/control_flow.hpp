// Which way a run went through the subgraphs of a model, and how their nodes and values are named: layers
// like any other. Made by the recording of a run, kept in the trace; unfold makes a graph of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace driftscope {

/// What one If, Loop or Scan did.
struct ControlFlowRecord {
  std::string node;                      ///< with its place, where it is inside another: "Loop_1[3]/If_2"
  std::string branch;                    ///< of an If: "then" or "else"; empty for loops
  std::int64_t iterations = 0;           ///< of a loop
  std::vector<std::int64_t> recorded{};  ///< iterations whose values were kept, ascending
};

/// What stands for the number of an iteration where it is any.
inline constexpr std::string_view any_iteration = "*";

/// "If_2[then]/" and "Loop_1[3]/": what names of nodes and values inside begin with.
[[nodiscard]] std::string branch_scope(std::string_view node, std::string_view branch);
[[nodiscard]] std::string iteration_scope(std::string_view node, std::int64_t iteration);

/// "Loop_1[*]/Add" of "Loop_1[3]/Add": which iterations are recorded is known only when they have run.
[[nodiscard]] std::string in_any_iteration(std::string_view name);

/// The outermost node that one of this name is inside; empty where `is_node` knows none.
[[nodiscard]] std::string_view outermost_owner(std::string_view name,
                                               const std::function<bool(std::string_view)>& is_node);

/// Whether a value of the graph, or of a subgraph at the place that the name says, has this name.
[[nodiscard]] bool has_value_inside(const Graph& graph, std::string_view name);

/// "then" of "then_branch"; empty for the body of a loop.
[[nodiscard]] std::string_view branch_of(std::string_view attribute);

/// Whether its subgraphs can be recorded and unfolded: If, Loop, and Scan without batches.
[[nodiscard]] bool has_layers_inside(const Node& node);

/// Inputs of the body before those that the node's own inputs give: Loop's iteration number and condition.
[[nodiscard]] std::size_t own_body_inputs(const Node& node);
/// Values that go from one iteration to the next.
[[nodiscard]] std::size_t carried_values(const Node& node);

}  // namespace driftscope
