// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/graph_json.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "core/eval/operator.hpp"

namespace driftscope::peer {
namespace {

using nlohmann::json;

json constant_json(const Tensor& tensor, Place place) {
  json result = place(tensor.bytes());
  result["dtype"] = dtype_name(tensor.dtype());
  result["shape"] = tensor.shape();
  return result;
}

Result<json> attribute_json(const Attribute& attribute, Place place) {
  return std::visit(
      [&](const auto& value) -> Result<json> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> ||
                      std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<float>> ||
                      std::is_same_v<T, std::vector<std::int64_t>> ||
                      std::is_same_v<T, std::vector<std::string>>)
          return json(value);
        else if constexpr (std::is_same_v<T, Tensor>)
          return constant_json(value, place);
        else
          return unsupported(
              fmt::format("attribute {}: graphs and lists of tensors cannot be passed", attribute.name));
      },
      attribute.value);
}

json names_json(const Graph& graph, const std::vector<ValueId>& ids) {
  json names = json::array();
  for (const ValueId id : ids) names.push_back(id == no_value ? json() : json(graph.values[id].name));
  return names;
}

Result<json> node_json(const Graph& graph, const Node& node, Place place) {
  if (!node.subgraphs.empty())
    return unsupported(fmt::format("{} has graphs inside, which cannot be passed", node.op_type));
  json result = {{"name", node.name},
                 {"op", node.op_type},
                 {"opset", node.opset},
                 {"inputs", names_json(graph, node.inputs)},
                 {"outputs", names_json(graph, node.outputs)},
                 {"attributes", json::object()}};
  if (!node.domain.empty()) result["domain"] = node.domain;
  for (const Attribute& attribute : node.attributes) {
    DRIFTSCOPE_TRY(result["attributes"][attribute.name], attribute_json(attribute, place));
  }
  return result;
}

}  // namespace

Result<json> graph_json(const Graph& graph, Place place) {
  json result = {{"inputs", names_json(graph, graph.inputs)},
                 {"outputs", names_json(graph, graph.outputs)},
                 {"values", json::object()},
                 {"constants", json::object()},
                 {"nodes", json::array()}};
  for (const Value& value : graph.values) {
    json& described = result["values"][value.name] = {{"dtype", dtype_name(value.dtype)}};
    if (const auto shape = value.static_shape()) described["shape"] = *shape;
    if (value.constant) result["constants"][value.name] = constant_json(*value.constant, place);
  }
  for (const Node& node : graph.nodes) {
    auto made = node_json(graph, node, place);
    if (!made.ok()) return in_context(std::move(made).error(), node_label(node));
    result["nodes"].push_back(*std::move(made));
  }
  return result;
}

}  // namespace driftscope::peer
