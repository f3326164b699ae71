#include "core/graph/topology.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/graph/constant_nodes.hpp"
#include "core/graph/control_flow.hpp"

namespace driftscope {
namespace {

bool all_texts(const nlohmann::json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end() || !found->is_array()) return false;
  for (const auto& name : *found)
    if (!name.is_string()) return false;
  return true;
}

// The nodes of a graph inside `scope`, whose values have these names; those inside branches before their If.
void add_nodes(const Graph& graph, const std::vector<std::string>& names, const std::string& scope,
               Topology& topology) {
  const std::vector<bool> constant = constant_nodes(graph);
  for (NodeId number = 0; number < graph.nodes.size(); ++number) {
    const Node& node = graph.nodes[number];
    TopologyNode made{scope + node.name, node.op_type, {}, {}, constant[number] && scope.empty()};
    for (const ValueId id : node.reads())
      if (id != no_value && !graph.values[id].constant) made.inputs.push_back(names[id]);
    for (const ValueId id : node.outputs)
      if (id != no_value) made.outputs.push_back(names[id]);
    for (const Subgraph& subgraph : node.subgraphs) {
      const std::string_view branch = branch_of(subgraph.attribute);
      if (branch.empty() || !has_layers_inside(node)) continue;
      const Graph& inside = *subgraph.graph;
      const std::string inner = branch_scope(made.name, branch);
      std::vector<std::string> inner_names;
      for (const Value& value : inside.values) inner_names.push_back(inner + value.name);
      for (std::size_t i = 0; i < inside.captured.size(); ++i)
        inner_names[inside.captured[i]] = names[node.captured[subgraph.captured[i]]];
      add_nodes(inside, inner_names, inner, topology);
      for (const ValueId id : inside.outputs)
        if (!inside.values[id].constant) made.inputs.push_back(inner_names[id]);
    }
    topology.nodes.push_back(std::move(made));
  }
}

}  // namespace

Topology topology_of(const Graph& graph) {
  Topology topology;
  std::vector<std::string> names;
  for (const Value& value : graph.values) names.push_back(value.name);
  add_nodes(graph, names, "", topology);
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
