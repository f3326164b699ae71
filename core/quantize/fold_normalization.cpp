#include "core/quantize/fold_normalization.hpp"

#include <unordered_map>

#include "core/base/unique_names.hpp"
#include "core/graph/node_names.hpp"
#include "core/graph/passes/passes.hpp"
#include "core/quantize/model_edit.hpp"

namespace driftscope::quantize {

std::int64_t fold_normalization(Model& model, Graph graph) {
  const Graph folded = fold_batch_normalization(std::move(graph));
  std::unordered_map<std::string, const Node*> by_name;
  for (const Node& node : folded.nodes) by_name.emplace(node.name, &node);
  ModelGraph& file = model.graph;
  UniqueNames names;
  for (const NamedTensor& one : file.initializers) (void)names.insert(one.name);
  for (const ModelNode& node : file.nodes) {
    for (const std::string& name : node.inputs) (void)names.insert(name);
    for (const std::string& name : node.outputs) (void)names.insert(name);
    names_inside(node, [&](const std::string& name) { (void)names.insert(name); });
  }
  const std::vector<std::string> node_names = unique_node_names(file.nodes);
  std::vector<ModelNode> kept;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < file.nodes.size(); ++i) {
    ModelNode node = std::move(file.nodes[i]);
    node.name = node_names[i];
    const auto found = by_name.find(node.name);
    // Gone: it is part of the node before it. Constants are gone from a graph as well, and stay in the model.
    if (found == by_name.end()) {
      if (node.op_type == "BatchNormalization") continue;
    } else if (!node.outputs.empty() && folded.value_name(found->second->outputs[0]) != node.outputs[0]) {
      const Node& changed = *found->second;
      node.outputs[0] = folded.value_name(changed.outputs[0]);
      node.inputs.resize(3);
      for (const std::size_t input : {1U, 2U}) {
        const Value& value = folded.values[changed.inputs[input]];
        node.inputs[input] = names.take(value.name);
        file.initializers.push_back({node.inputs[input], *value.constant});
      }
      ++count;
    }
    kept.push_back(std::move(node));
  }
  file.nodes = std::move(kept);
  return count;
}

}  // namespace driftscope::quantize
