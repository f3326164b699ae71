// Which node reads which values: all that the GUI needs of a model. Made from a graph, or read from the
// session service's JSON, so that the page's GUI needs no ONNX reader.
// Clients: the session service, the GUI, kept comparisons.
#pragma once

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

/// With the nodes inside the branches of every If (control_flow.hpp), which read and make values of their
/// own: of a branch that does not run, a run has no layers. Loops are one node.
[[nodiscard]] Topology topology_of(const Graph& graph);

/// As read_topology reads it.
[[nodiscard]] std::string topology_json(const Topology& topology);

/// From [{"node","op","inputs":[…],"outputs":[…]}], the nodes in the service's "topology" response.
[[nodiscard]] Result<Topology> read_topology(std::string_view json);

}  // namespace driftscope
