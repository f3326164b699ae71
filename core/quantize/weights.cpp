#include "core/quantize/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/base/text.hpp"

namespace driftscope::quantize {
namespace {

struct WeightRow {
  std::string_view op;
  std::size_t input;
  int channels;  ///< from the back where negative
};
/// Gemm's axis depends on transB.
constexpr std::array weight_rows = {WeightRow{"Conv", 1, 0},    WeightRow{"ConvTranspose", 1, 1},
                                    WeightRow{"MatMul", 1, -1}, WeightRow{"Gather", 0, 0},
                                    WeightRow{"LSTM", 1, 1},    WeightRow{"LSTM", 2, 1},
                                    WeightRow{"GRU", 1, 1},     WeightRow{"GRU", 2, 1},
                                    WeightRow{"RNN", 1, 1},     WeightRow{"RNN", 2, 1}};

const Tensor* weight_at(const ModelEdit& edit, const ModelNode& node, std::size_t input) {
  if (input >= node.inputs.size() || node.inputs[input].empty()) return nullptr;
  const Tensor* const weight = edit.constant(node.inputs[input]);
  if (weight == nullptr || weight->dtype() != DType::float32 || weight->rank() < 2 || weight->elements() == 0)
    return nullptr;
  return weight;
}

}  // namespace

std::vector<WeightUse> weight_uses(const ModelEdit& edit, const ModelNode& node) {
  std::vector<WeightUse> uses;
  if (!node.domain.empty()) return uses;
  if (node.op_type == "Gemm" && weight_at(edit, node, 1) != nullptr)
    uses.push_back({1, int_of(node, "transB", 0) != 0 ? 0U : 1U});
  // An embedding: rows are picked. Of another axis, or of one dimension, it is no table of vectors.
  if (node.op_type == "Gather" && int_of(node, "axis", 0) != 0) return uses;
  for (const WeightRow& row : weight_rows) {
    if (row.op != node.op_type) continue;
    const Tensor* const weight = weight_at(edit, node, row.input);
    if (weight == nullptr) continue;
    const int axis = row.channels < 0 ? weight->rank() + row.channels : row.channels;
    uses.push_back({row.input, static_cast<std::size_t>(axis)});
  }
  return uses;
}

std::vector<std::string> weighted_layers(const ModelEdit& edit) {
  std::vector<std::string> names;
  for (const ModelNode& node : edit.nodes())
    if (!weight_uses(edit, node).empty()) names.push_back(node.name);
  return names;
}

Status check_finite(const Tensor& weight, const std::string& node, const std::string& name) {
  const auto values = weight.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      return bad_input(
          fmt::format("node {}: element {} of its weight {} is {}; a scale needs finite weights: keep the "
                      "layer in float with --keep {}, or train the model again",
                      in_quotes(node), i, in_quotes(name), values[i], in_quotes(node)));
  return {};
}

Status compress_weights(ModelEdit& edit, const ModeOptions& options, const Compress& compress,
                        const Replace& replace) {
  std::map<std::pair<std::string, std::size_t>, std::string> done;
  for (ModelNode node : edit.nodes()) {
    if (replace && !options.keep.contains(node.name)) {
      DRIFTSCOPE_TRY(const bool replaced, replace(edit, node));
      if (replaced) continue;
    }
    if (!options.keep.contains(node.name))
      for (const WeightUse& use : weight_uses(edit, node)) {
        std::string& input = node.inputs[use.input];
        const auto found = done.find({input, use.channels});
        if (found != done.end()) {
          input = found->second;
          continue;
        }
        const std::string name = input;
        const Tensor weight = *edit.constant(name);
        DRIFTSCOPE_CHECK(check_finite(weight, node.name, name));
        DRIFTSCOPE_TRY(input, compress(edit, name, weight, use));
        done[{name, use.channels}] = input;
      }
    edit.emit(std::move(node));
  }
  return {};
}

std::string emit_dequantized(ModelEdit& edit, const std::string& name, Quantized quantized,
                             Grouping grouping) {
  std::vector<std::string> inputs = {
      edit.add_constant(name + ".steps", std::move(quantized.steps)),
      edit.add_constant(name + ".scale", std::move(quantized.scales)),
      edit.add_constant(name + ".zero_point", std::move(quantized.zero_points))};
  std::vector<Attribute> attributes;
  if (grouping.kind != Grouping::Kind::tensor)
    attributes.push_back(int_attribute_of("axis", static_cast<std::int64_t>(grouping.axis)));
  if (grouping.kind == Grouping::Kind::block)
    attributes.push_back(int_attribute_of("block_size", grouping.block));
  return edit.emit("DequantizeLinear", name + "/DequantizeLinear", std::move(inputs), std::move(attributes));
}

Result<std::string> emit_blocked(ModelEdit& edit, const std::string& name, const Tensor& weight,
                                 const WeightUse& use, DType dtype, std::int64_t block) {
  const auto last = static_cast<std::size_t>(weight.rank()) - 1;
  if (weight.rank() == 2 || use.channels == last) {
    // An embedding's vectors are its rows, so they have the blocks as well.
    const std::size_t axis = use.channels == last ? last - 1 : last;
    const Grouping grouping = blocks(axis, std::min(block, weight.shape()[axis]));
    DRIFTSCOPE_TRY(Quantized quantized, quantize_tensor(weight, dtype, grouping));
    return emit_dequantized(edit, name, std::move(quantized), grouping);
  }
  // What a channel sums over is [everything before it] × [everything behind]; only axes behind are
  // contiguous.
  std::int64_t rows = 1;
  for (std::size_t i = 0; i <= use.channels; ++i) rows *= weight.shape()[i];
  const std::int64_t columns = weight.elements() / rows;
  DRIFTSCOPE_TRY(const Tensor flat, weight.reshaped({rows, columns}));
  const Grouping grouping = blocks(1, std::min(block, columns));
  DRIFTSCOPE_TRY(Quantized quantized, quantize_tensor(flat, dtype, grouping));
  const std::string matrix = emit_dequantized(edit, name, std::move(quantized), grouping);
  DRIFTSCOPE_TRY(Tensor shape, Tensor::from_values<std::int64_t>({weight.rank()}, weight.shape()));
  const std::string sizes = edit.add_constant(name + ".shape", std::move(shape));
  return edit.emit("Reshape", name + "/Reshape", {matrix, sizes});
}

Status emit_stored(ModelEdit& edit, ModelNode node, const std::vector<WeightUse>& uses, bool per_channel) {
  if (node.op_type == "Gather") {
    const std::string name = node.inputs[0];
    DRIFTSCOPE_TRY(Quantized quantized, quantize_tensor(*edit.constant(name), DType::int8, whole_tensor));
    const std::string scale = edit.add_constant(name + ".scale", std::move(quantized.scales));
    const std::string zero = edit.add_constant(name + ".zero_point", std::move(quantized.zero_points));
    const std::string steps = edit.add_constant(name + ".steps", std::move(quantized.steps));
    const std::string rows =
        edit.emit("Gather", node.name + "/Gather", {steps, node.inputs[1]}, node.attributes);
    edit.emit("DequantizeLinear", node.name, {rows, scale, zero}, {}, node.outputs[0]);
    return {};
  }
  for (const WeightUse& use : uses) {
    std::string& input = node.inputs[use.input];
    const Grouping grouping = per_channel ? along(use.channels) : whole_tensor;
    DRIFTSCOPE_TRY(Quantized quantized, quantize_tensor(*edit.constant(input), DType::int8, grouping));
    input = emit_dequantized(edit, input, std::move(quantized), grouping);
  }
  edit.emit(std::move(node));
  return {};
}

void note_stored(const ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes) {
  for (const ModelNode& node : edit.nodes())
    if ((node.op_type == "LSTM" || node.op_type == "GRU" || node.op_type == "RNN") &&
        !options.keep.contains(node.name) && !weight_uses(edit, node).empty())
      notes.push_back(
          fmt::format("{}: ONNX has no integer {}: its weights are stored as int8, it computes in float",
                      in_quotes(node.name), node.op_type));
}

}  // namespace driftscope::quantize
