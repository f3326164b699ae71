#include "core/gradient/prune.hpp"

#include <unordered_map>
#include <unordered_set>

namespace driftscope {
namespace {

// All names that a node's subgraphs read, also those of their own: more may stay than must.
void read_names(const ModelNode& node, std::vector<std::string>& names);

void read_names(const ModelGraph& graph, std::vector<std::string>& names) {
  for (const ModelNode& node : graph.nodes) read_names(node, names);
  for (const ValueInfo& output : graph.outputs) names.push_back(output.name);
}

void read_names(const ModelNode& node, std::vector<std::string>& names) {
  for (const std::string& input : node.inputs)
    if (!input.empty()) names.push_back(input);
  for (const Attribute& attribute : node.attributes) {
    if (const auto* body = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value))
      read_names(**body, names);
    if (const auto* bodies = std::get_if<std::vector<std::shared_ptr<const ModelGraph>>>(&attribute.value))
      for (const auto& one : *bodies) read_names(*one, names);
  }
}

}  // namespace

void prune(ModelGraph& graph) {
  std::unordered_map<std::string, std::size_t> producers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& output : graph.nodes[i].outputs)
      if (!output.empty()) producers[output] = i;
  std::vector<bool> needed(graph.nodes.size(), false);
  std::unordered_set<std::string> names;
  std::vector<std::string> open;
  for (const ValueInfo& output : graph.outputs) open.push_back(output.name);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!names.insert(name).second) continue;
    const auto producer = producers.find(name);
    if (producer == producers.end() || needed[producer->second]) continue;
    needed[producer->second] = true;
    read_names(graph.nodes[producer->second], open);
  }
  std::vector<ModelNode> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (needed[i]) nodes.push_back(std::move(graph.nodes[i]));
  graph.nodes = std::move(nodes);
  const auto unused = [&](const auto& value) { return !names.contains(value.name); };
  std::erase_if(graph.initializers, unused);
  std::erase_if(graph.unsupported_initializers, unused);
  std::erase_if(graph.value_infos, unused);
  graph.other_outputs.clear();
}

}  // namespace driftscope
