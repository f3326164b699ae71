// Which node reads what: all that screens need of a model. Made from a graph, or read from the
// JSON that the session service gives of it, so that the page's screens need no ONNX reader.
// Clients: the session service, the screens.
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
};

/// In topological order.
struct Topology {
  std::vector<TopologyNode> nodes;
};

[[nodiscard]] Topology topology_of(const Graph& graph);

/// Of [{"node","op","inputs":[…],"outputs":[…]}], the nodes that the service's "topology" answers.
[[nodiscard]] Result<Topology> read_topology(std::string_view json);

}  // namespace driftscope
