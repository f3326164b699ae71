#include "core/graph/graph_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace driftscope {
namespace {

ValueInfo info_of(const Value& value) { return {value.name, value.dtype, value.shape}; }

/// The version of each domain that most nodes have; others say their own.
std::map<std::string, std::int64_t> opsets_of(const Graph& graph) {
  std::map<std::string, std::map<std::int64_t, std::size_t>> counted;
  for (const Node& node : graph.nodes) ++counted[node.domain][node.opset];
  std::map<std::string, std::int64_t> opsets;
  for (const auto& [domain, versions] : counted)
    opsets[domain] =
        std::ranges::max_element(versions, {}, [](const auto& entry) { return entry.second; })->first;
  return opsets;
}

}  // namespace

Result<Model> model_of(const Graph& graph) {
  Model model;
  model.ir_version = 8;
  model.opsets = opsets_of(graph);
  model.graph.name = graph.name;
  for (const Node& node : graph.nodes) {
    if (!node.subgraphs.empty())
      return unsupported(
          fmt::format("node {} ({}) has a body, which is no part of one graph", node.name, node.op_type));
    ModelNode made;
    made.name = node.name;
    made.op_type = node.op_type;
    made.domain = node.domain;
    for (const ValueId id : node.inputs) made.inputs.push_back(id == no_value ? "" : graph.values[id].name);
    for (const ValueId id : node.outputs) made.outputs.push_back(id == no_value ? "" : graph.values[id].name);
    made.attributes = node.attributes;
    if (node.opset != model.opsets.at(node.domain)) made.opset = node.opset;
    model.graph.nodes.push_back(std::move(made));
  }
  for (const Value& value : graph.values)
    if (value.constant && value.producer == no_node)
      model.graph.initializers.push_back({value.name, *value.constant});
  for (const ValueId id : graph.inputs) model.graph.inputs.push_back(info_of(graph.values[id]));
  for (const ValueId id : graph.outputs) model.graph.outputs.push_back(info_of(graph.values[id]));
  return model;
}

}  // namespace driftscope
