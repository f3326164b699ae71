#include "core/graph/constant_nodes.hpp"

#include <algorithm>

namespace driftscope {

bool is_deterministic(const Node& node) {
  if (node.op_type == "Constant" && node.domain.empty()) return true;
  // Any other node without inputs draws random numbers.
  return node.opaque.empty() && !node.inputs.empty() && node.subgraphs.empty() &&
         node.op_type != "Bernoulli" && !node.op_type.starts_with("Random") && node.op_type != "Dropout";
}

std::vector<bool> constant_nodes(const Graph& graph) {
  std::vector<bool> known(graph.values.size());
  for (ValueId id = 0; id < graph.values.size(); ++id) known[id] = graph.values[id].constant.has_value();
  for (const ValueId id : graph.inputs) known[id] = false;
  std::vector<bool> constant(graph.nodes.size());
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    const Node& one = graph.nodes[node];
    constant[node] = is_deterministic(one) &&
                     std::ranges::all_of(one.inputs, [&](ValueId id) { return id == no_value || known[id]; });
    if (!constant[node]) continue;
    for (const ValueId id : one.outputs)
      if (id != no_value) known[id] = true;
  }
  // A model without inputs is nothing but constants: its layers are what there is to look at.
  if (std::ranges::all_of(constant, [](bool one) { return one; })) constant.assign(constant.size(), false);
  return constant;
}

}  // namespace driftscope
