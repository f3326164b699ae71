#include "core/engines/fast/fold_constants.hpp"

#include <algorithm>

#include "core/ops/evaluate.hpp"

namespace driftscope::fast {
namespace {

bool reads_only_constants(const Graph& graph, const Node& node) {
  // Without inputs it is Constant, which shape inference has folded, or something random.
  if (node.inputs.empty() || !node.subgraphs.empty() || node.op_type == "Bernoulli" ||
      node.op_type.starts_with("Random") || node.op_type == "Dropout")
    return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == no_value || graph.values[id].constant.has_value();
  });
}

bool all_known(const Graph& graph, const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
    return id == no_value || graph.values[id].constant.has_value();
  });
}

}  // namespace

Graph fold_constants(Graph graph, ThreadPool& threads) {
  for (const Node& node : graph.nodes) {
    if (!reads_only_constants(graph, node) || all_known(graph, node)) continue;
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == no_value ? nullptr : &*graph.values[id].constant);
    auto outputs = evaluate_strict(node, inputs, threads);
    if (!outputs.ok()) continue;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value)
        graph.values[node.outputs[i]].constant = std::move((*outputs)[i]);
  }
  return graph;
}

}  // namespace driftscope::fast
