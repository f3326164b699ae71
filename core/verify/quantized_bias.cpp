// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/quantized_bias.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "core/verify/derivation.hpp"

namespace driftscope {
namespace {

// The constant scale of the DequantizeLinear that produces a value.
std::optional<Tensor> scale_of(const Graph& graph, ValueId value, const Derivation& derivation) {
  const NodeId producer = value == no_value ? no_node : graph.values[value].producer;
  if (producer == no_node) return std::nullopt;
  const Node& node = graph.nodes[producer];
  if (node.op_type != "DequantizeLinear" || node.inputs.size() < 2 || node.inputs[1] == no_value ||
      !graph.values[node.inputs[1]].constant)
    return std::nullopt;
  auto scale = derivation.known_value(node.inputs[1]);
  if (!scale || scale->dtype() != DType::float32 || scale->elements() == 0) return std::nullopt;
  return scale;
}

}  // namespace

std::optional<Tensor> quantized_bias(const Graph& graph, NodeId id, const Derivation& derivation) {
  const Node& node = graph.nodes[id];
  const bool sums = node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "Gemm";
  if (!sums || node.inputs.size() < 3 || node.inputs[2] == no_value || !graph.values[node.inputs[2]].constant)
    return std::nullopt;
  const auto of_inputs = scale_of(graph, node.inputs[0], derivation);
  const auto of_weights = scale_of(graph, node.inputs[1], derivation);
  const auto bias = derivation.known_value(node.inputs[2]);
  if (!of_inputs || !of_weights || !bias || bias->dtype() != DType::float32) return std::nullopt;
  const bool by_channel = of_weights->elements() == bias->elements();
  if (of_inputs->elements() != 1 || (of_weights->elements() != 1 && !by_channel)) return std::nullopt;
  std::vector<float> rounded(bias->values<float>().begin(), bias->values<float>().end());
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    const float step = of_inputs->values<float>()[0] * of_weights->values<float>()[by_channel ? i : 0];
    const double steps = std::nearbyint(static_cast<double>(rounded[i] / step));
    if (!(std::fabs(steps) <= static_cast<double>(std::numeric_limits<std::int32_t>::max())))
      return std::nullopt;
    rounded[i] = static_cast<float>(steps) * step;
  }
  auto made = Tensor::from_values<float>(bias->shape(), rounded);
  if (!made.ok()) return std::nullopt;
  return *std::move(made);
}

}  // namespace driftscope
