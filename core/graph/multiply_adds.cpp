#include "core/graph/multiply_adds.hpp"

#include <optional>

namespace driftscope {
namespace {

double elements_of(const Shape& shape) {
  double elements = 1.0;
  for (const std::int64_t size : shape) elements *= static_cast<double>(size);
  return elements;
}

std::optional<Shape> shape_of(const Graph& graph, const Node& node, std::size_t input) {
  if (input >= node.inputs.size() || node.inputs[input] == no_value) return std::nullopt;
  const Value& value = graph.values[node.inputs[input]];
  return value.constant ? std::optional(value.constant->shape()) : value.static_shape();
}

double of_node(const Graph& graph, const Node& node) {
  double written = 0.0;
  for (const ValueId id : node.outputs)
    if (id != no_value)
      if (const auto shape = graph.values[id].static_shape()) written += elements_of(*shape);
  const auto first = shape_of(graph, node, 0);
  const auto second = shape_of(graph, node, 1);
  if (!first || !second || first->empty() || second->empty()) return written;
  const std::string& op = node.op_type;
  // Both kinds of convolution use each weight once for every place of the larger side.
  if (op == "Conv" && second->front() > 0)
    return written * elements_of(*second) / static_cast<double>(second->front());
  if (op == "ConvTranspose" && second->front() > 0)
    return elements_of(*first) * elements_of(*second) / static_cast<double>(second->front());
  if (op == "MatMul") return written * static_cast<double>(first->back());
  if (op == "Gemm") {
    const auto transposed = node.attribute("transA");
    const bool turned = transposed != nullptr && std::holds_alternative<std::int64_t>(transposed->value) &&
                        std::get<std::int64_t>(transposed->value) != 0;
    return written * static_cast<double>(turned ? first->front() : first->back());
  }
  if ((op == "LSTM" || op == "GRU" || op == "RNN") && first->size() == 3)
    if (const auto again = shape_of(graph, node, 2))
      return static_cast<double>((*first)[0]) * static_cast<double>((*first)[1]) *
             (elements_of(*second) + elements_of(*again));
  return written;
}

}  // namespace

double multiply_adds(const Graph& graph) {
  double all = 0.0;
  for (const Node& node : graph.nodes) all += of_node(graph, node);
  return all;
}

}  // namespace driftscope
