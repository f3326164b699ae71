#include "core/graph/topology.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/graph/constant_nodes.hpp"

namespace driftscope {
namespace {

bool all_texts(const nlohmann::json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end() || !found->is_array()) return false;
  for (const auto& name : *found)
    if (!name.is_string()) return false;
  return true;
}

}  // namespace

Topology topology_of(const Graph& graph) {
  Topology topology;
  topology.nodes.reserve(graph.nodes.size());
  const std::vector<bool> constant = constant_nodes(graph);
  for (NodeId number = 0; number < graph.nodes.size(); ++number) {
    const Node& node = graph.nodes[number];
    TopologyNode& made = topology.nodes.emplace_back();
    made.constant = constant[number];
    made.name = node.name;
    made.op = node.op_type;
    for (const ValueId id : node.reads())
      if (id != no_value && !graph.values[id].constant) made.inputs.push_back(graph.values[id].name);
    for (const ValueId id : node.outputs)
      if (id != no_value) made.outputs.push_back(graph.values[id].name);
  }
  return topology;
}

std::string topology_json(const Topology& topology) {
  auto nodes = nlohmann::ordered_json::array();
  for (const TopologyNode& node : topology.nodes) {
    nlohmann::ordered_json one = {
        {"node", node.name}, {"op", node.op}, {"inputs", node.inputs}, {"outputs", node.outputs}};
    if (node.constant) one["constant"] = true;
    nodes.push_back(std::move(one));
  }
  return json_text(nodes);
}

Result<Topology> read_topology(std::string_view text) {
  const auto json = parse_json(text);
  if (!json.is_array()) return bad_input("the model's structure: expected a JSON array of nodes");
  Topology topology;
  for (const auto& node : json) {
    if (!node.is_object() || !node.contains("node") || !node["node"].is_string() || !node.contains("op") ||
        !node["op"].is_string() || !all_texts(node, "inputs") || !all_texts(node, "outputs"))
      return bad_input(
          fmt::format("the model's structure: node {} lacks \"node\", \"op\", \"inputs\" or \"outputs\"",
                      topology.nodes.size()));
    topology.nodes.push_back({node["node"].get<std::string>(), node["op"].get<std::string>(),
                              node["inputs"].get<std::vector<std::string>>(),
                              node["outputs"].get<std::vector<std::string>>(),
                              node.contains("constant") && node["constant"] == true});
  }
  return topology;
}

}  // namespace driftscope
