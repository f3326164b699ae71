// Which node reads which values: all that the GUI needs of a model. Made from a graph, or read from the
// session service's JSON, so that the page's GUI needs no ONNX reader.
// Clients: the session service, the GUI, kept comparisons.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace driftscope {

struct TopologyNode {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;  ///< values that flow; constants are left out
  std::vector<std::string> outputs;
  bool constant = false;  ///< of constant_nodes
};

/// In topological order.
struct Topology {
  std::vector<TopologyNode> nodes;
};

/// With the nodes inside If, Loop and Scan (control_flow.hpp), each before the node that it is inside: of a
/// branch that does not run, a run has no layers. Of a loop the nodes are there once, as those of iteration
/// "*", after nodes without an operator that make what an iteration starts from: their first input is that of
/// the first iteration, their second, if any, what the iteration before made. with_iterations resolves them.
[[nodiscard]] Topology topology_of(const Graph& graph);

/// The structure with the nodes of loops in each iteration of which one of `values` (by name) is known, in
/// place of those of iteration "*".
[[nodiscard]] Topology with_iterations(const Topology& topology, std::span<const std::string_view> values);

/// As read_topology reads it.
[[nodiscard]] std::string topology_json(const Topology& topology);

/// From [{"node","op","inputs":[…],"outputs":[…]}], the nodes in the service's "topology" response.
[[nodiscard]] Result<Topology> read_topology(std::string_view json);

}  // namespace driftscope
