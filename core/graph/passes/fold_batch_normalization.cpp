#include <array>
#include <cmath>

#include "core/graph/passes/passes.hpp"
#include "core/graph/passes/rewriter.hpp"

namespace driftscope {
namespace {

template <class T>
T attribute_or(const Node& node, std::string_view name, T fallback) {
  const Attribute* attribute = node.attribute(name);
  const T* value = attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
  return value == nullptr ? fallback : *value;
}

// y = x·scale + shift, for each channel.
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
};

std::optional<Affine> affine_of(const GraphRewriter& rewriter, const Node& node) {
  if (node.op_type != "BatchNormalization" || !node.domain.empty() || node.inputs.size() != 5 ||
      attribute_or<std::int64_t>(node, "training_mode", 0) != 0 ||
      attribute_or<std::int64_t>(node, "spatial", 1) != 1)
    return std::nullopt;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return std::nullopt;
  std::array<std::span<const float>, 4> given;  // scale, B, mean, var
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor* tensor = rewriter.float_constant(node.inputs[i + 1]);
    if (tensor == nullptr) return std::nullopt;
    given[i] = tensor->values<float>();
    if (given[i].size() != given[0].size()) return std::nullopt;
  }
  const double epsilon = static_cast<double>(attribute_or<float>(node, "epsilon", 1e-5f));
  Affine affine;
  for (std::size_t c = 0; c < given[0].size(); ++c) {
    const double deviation = std::sqrt(static_cast<double>(given[3][c]) + epsilon);
    affine.scale.push_back(static_cast<double>(given[0][c]) / deviation);
    affine.shift.push_back(static_cast<double>(given[1][c]) -
                           static_cast<double>(given[2][c]) * affine.scale.back());
  }
  return affine;
}

// Which axis of the weights is that of the outputs. Nothing for nodes that cannot take the factors.
struct Outputs {
  std::size_t axis = 0;
  std::int64_t groups = 1;  // ConvTranspose: the outputs of each group
};

std::optional<Outputs> outputs_of(const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "Conv") return Outputs{0, 1};
  if (node.op_type == "ConvTranspose") return Outputs{1, attribute_or<std::int64_t>(node, "group", 1)};
  const bool plain = attribute_or(node, "alpha", 1.0f) == 1.0f && attribute_or(node, "beta", 1.0f) == 1.0f;
  if (node.op_type != "Gemm" || !plain) return std::nullopt;
  return Outputs{attribute_or<std::int64_t>(node, "transB", 0) != 0 ? 0u : 1u, 1};
}

// Weights times the scale of the output channel that each belongs to.
Result<Tensor> scaled(const Tensor& weights, Outputs outputs, const std::vector<double>& scale) {
  DRIFTSCOPE_TRY(Tensor result, Tensor::make(DType::float32, weights.shape(), "folded weights"));
  const std::span<const float> from = weights.values<float>();
  const std::span<float> to = result.mutable_values<float>();
  const Shape& shape = weights.shape();
  std::int64_t inner = 1;
  for (std::size_t i = outputs.axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const std::int64_t count = shape[outputs.axis];
  // Inputs of a group, for ConvTranspose, whose first axis counts all inputs.
  const std::int64_t per_group = outputs.axis == 0 ? 1 : shape[0] / outputs.groups;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    std::int64_t output = at / inner % count;
    if (outputs.axis == 1 && outputs.groups > 1) output += at / inner / count / per_group * count;
    to[i] = static_cast<float>(static_cast<double>(from[i]) * scale[static_cast<std::size_t>(output)]);
  }
  return result;
}

// Returns whether it could be folded.
bool fold_behind(GraphRewriter& rewriter, NodeId id) {
  const Node& node = rewriter.node(id);
  const auto outputs = outputs_of(node);
  if (!outputs || node.inputs.size() < 2 || node.outputs.size() != 1) return false;
  const auto next = rewriter.only_reader(node.outputs[0]);
  if (!next || rewriter.node(*next).inputs[0] != node.outputs[0]) return false;
  const Tensor* weights = rewriter.float_constant(node.inputs[1]);
  const auto affine = affine_of(rewriter, rewriter.node(*next));
  if (weights == nullptr || !affine) return false;
  const std::size_t channels = affine->scale.size();
  if (outputs->groups < 1 || outputs->groups > static_cast<std::int64_t>(channels)) return false;
  if (outputs->axis == 1 && weights->shape()[0] % outputs->groups != 0) return false;
  if (static_cast<std::int64_t>(channels) != weights->shape()[outputs->axis] * outputs->groups) return false;
  std::vector<double> bias(channels, 0.0);
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
    const Tensor* given = rewriter.float_constant(node.inputs[2]);
    if (given == nullptr || given->elements() != static_cast<std::int64_t>(channels)) return false;
    for (std::size_t c = 0; c < channels; ++c) bias[c] = static_cast<double>(given->values<float>()[c]);
  }
  std::vector<float> shifted(channels);
  for (std::size_t c = 0; c < channels; ++c)
    shifted[c] = static_cast<float>(bias[c] * affine->scale[c] + affine->shift[c]);
  auto folded = scaled(*weights, *outputs, affine->scale);
  auto folded_bias = Tensor::from_values<float>({static_cast<std::int64_t>(channels)}, shifted);
  if (!folded.ok() || !folded_bias.ok()) return false;  // no memory: it stays as it is
  const std::string name = node.name;
  const ValueId made = rewriter.node(*next).outputs[0];
  rewriter.set_input(id, 1, rewriter.add_constant(*std::move(folded), name + ".weight"));
  rewriter.set_input(id, 2, rewriter.add_constant(*std::move(folded_bias), name + ".bias"));
  rewriter.remove(*next);
  rewriter.set_output(id, made);
  return true;
}

}  // namespace

Graph fold_batch_normalization(Graph graph) {
  GraphRewriter rewriter(std::move(graph));
  for (NodeId id = 0; id < rewriter.node_count(); ++id)
    while (!rewriter.removed(id) && fold_behind(rewriter, id)) {
    }
  return rewriter.take();
}

}  // namespace driftscope
