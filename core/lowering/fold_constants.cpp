#include "core/lowering/fold_constants.hpp"

#include <algorithm>

#include "core/eval/evaluate.hpp"
#include "core/graph/constant_nodes.hpp"

namespace driftscope::lowering {
namespace {

// Of its second input CastLike needs the type alone.
bool reads_type_only(const Graph& graph, const Node& node, std::size_t input) {
  return node.op_type == "CastLike" && node.domain.empty() && input == 1 &&
         graph.values[node.inputs[1]].dtype != DType::undefined;
}

bool reads_only_constants(const Graph& graph, const Node& node) {
  if (!is_deterministic(node)) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != no_value && !graph.values[node.inputs[i]].constant &&
        !reads_type_only(graph, node, i))
      return false;
  return true;
}

bool all_known(const Graph& graph, const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId id) { return id == no_value || graph.values[id].constant.has_value(); });
}

// Shape without start and end, of a value whose sizes are bound.
bool is_known_shape(const Graph& graph, const Node& node) {
  return node.op_type == "Shape" && node.domain.empty() && node.attributes.empty() &&
         node.outputs[0] != no_value && graph.values[node.inputs[0]].static_shape().has_value();
}

}  // namespace

Graph fold_constants(Graph graph, ThreadPool& threads) {
  for (const Node& node : graph.nodes) {
    if (is_known_shape(graph, node)) {
      const Shape sizes = *graph.values[node.inputs[0]].static_shape();
      auto known = Tensor::from_values<std::int64_t>({static_cast<std::int64_t>(sizes.size())}, sizes);
      if (known.ok()) graph.values[node.outputs[0]].constant = *std::move(known);
      continue;
    }
    if (!reads_only_constants(graph, node) || all_known(graph, node)) continue;
    std::vector<const Tensor*> inputs;
    Tensor of_type;
    for (const ValueId id : node.inputs) {
      if (id != no_value && !graph.values[id].constant) {
        auto empty = Tensor::make(graph.values[id].dtype, {0});
        if (!empty.ok()) break;
        of_type = *std::move(empty);
        inputs.push_back(&of_type);
        continue;
      }
      inputs.push_back(id == no_value ? nullptr : &*graph.values[id].constant);
      if (inputs.back() != nullptr) (void)inputs.back()->bytes();  // kernels read them on any thread
    }
    if (inputs.size() != node.inputs.size()) continue;
    auto outputs = evaluate_strict(node, inputs, threads);
    if (!outputs.ok()) continue;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) graph.values[node.outputs[i]].constant = std::move((*outputs)[i]);
  }
  return graph;
}

}  // namespace driftscope::lowering
