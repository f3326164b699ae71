#include "core/graph/print.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr std::size_t max_elements = 8;  // of a list or a constant
constexpr std::size_t max_text = 40;     // bytes of a string attribute

/// "[1,2,3]", "[1,2,…,9 in all]".
template <class T, class Format>
std::string list_text(const std::vector<T>& list, Format format) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size() && i < max_elements; ++i)
    text += (i == 0 ? "" : ",") + format(list[i]);
  if (list.size() > max_elements) text += fmt::format(",… {} in all", list.size());
  return text + "]";
}

/// The elements of a small integer or float constant, which is often a shape or a limit; else "".
std::string constant_text(const Tensor& tensor) {
  if (tensor.elements() > static_cast<std::int64_t>(max_elements)) return "";
  std::string text;
  visit_plain_number(tensor.dtype(), [&]<class E>() {
    using T = typename E::Stored;
    if constexpr (E::bits >= 32 && std::is_signed_v<T>) {
      const auto values = tensor.values<T>();
      text = " = " + list_text(std::vector<T>(values.begin(), values.end()),
                               [](T x) { return fmt::format("{}", x); });
    }
  });
  return text;
}

std::string tensor_text(const Tensor& tensor) {
  return fmt::format("{} {}{}", dtype_name(tensor.dtype()), shape_text(tensor.shape()),
                     constant_text(tensor));
}

std::string subgraph_text(const std::shared_ptr<const ModelGraph>& graph) {
  return fmt::format("graph of {} node{}", graph->nodes.size(), graph->nodes.size() == 1 ? "" : "s");
}

struct AttributeText {
  std::string operator()(std::monostate) const { return "(not read)"; }
  std::string operator()(float x) const { return fmt::format("{}", x); }
  std::string operator()(std::int64_t x) const { return fmt::format("{}", x); }
  std::string operator()(const std::string& x) const { return in_quotes(x, max_text); }
  std::string operator()(const Tensor& x) const { return "{" + tensor_text(x) + "}"; }
  std::string operator()(const std::shared_ptr<const ModelGraph>& x) const {
    return "{" + subgraph_text(x) + "}";
  }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    return list_text(list, [this](const T& x) { return (*this)(x); });
  }
};

std::string type_text(const Value& value) {
  const std::string_view dtype = value.dtype == DType::undefined ? "?" : dtype_name(value.dtype);
  return fmt::format("{} {}", dtype, value.shape ? shape_text(*value.shape) : "(unknown rank)");
}

std::string value_text(const Graph& graph, ValueId id) {
  if (id == no_value) return "_: (omitted)";
  return fmt::format("{}: {}", graph.values[id].name, type_text(graph.values[id]));
}

std::string graph_text(const Graph& graph, const std::string& indent);

std::string node_text(const Graph& graph, const Node& node, const std::string& indent) {
  std::string text = indent + node.name + " = ";
  if (!node.domain.empty()) text += node.domain + ".";
  text += node.op_type;
  if (!node.attributes.empty()) {
    text += "[";
    for (const Attribute& attribute : node.attributes)
      text += fmt::format("{}{}={}", &attribute == &node.attributes.front() ? "" : " ", attribute.name,
                          std::visit(AttributeText{}, attribute.value));
    text += "]";
  }
  std::vector<std::string> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(id == no_value ? "_" : graph.values[id].name);
  std::vector<std::string> outputs;
  for (const ValueId id : node.outputs) outputs.push_back(value_text(graph, id));
  text += fmt::format("({}) -> {}\n", fmt::join(inputs, ", "), fmt::join(outputs, ", "));
  for (const Subgraph& subgraph : node.subgraphs)
    text +=
        fmt::format("{}  {}:\n{}", indent, subgraph.attribute, graph_text(*subgraph.graph, indent + "    "));
  return text;
}

std::string graph_text(const Graph& graph, const std::string& indent) {
  std::string text;
  for (const ValueId id : graph.inputs) text += fmt::format("{}input  {}\n", indent, value_text(graph, id));
  for (const ValueId id : graph.captured) text += fmt::format("{}outer  {}\n", indent, value_text(graph, id));
  for (const Value& value : graph.values)
    if (value.constant && value.producer == no_node)
      text += fmt::format("{}const  {}: {}\n", indent, value.name, tensor_text(*value.constant));
  for (const Node& node : graph.nodes) text += node_text(graph, node, indent);
  for (const ValueId id : graph.outputs) text += fmt::format("{}output {}\n", indent, value_text(graph, id));
  return text;
}

}  // namespace

std::string print_graph(const Graph& graph) {
  return fmt::format("graph {}\n{}", graph.name, graph_text(graph, ""));
}

}  // namespace driftscope
