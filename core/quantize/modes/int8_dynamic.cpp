// int8-dynamic: weights as int8, symmetric; the range of an activation is that of each run: as ONNX Runtime's
// quantize_dynamic. Gemm becomes MatMulInteger with its bias added behind; an embedding's rows are made real
// once they are picked; LSTM, GRU and RNN have no integer form in ONNX: their weights alone are stored as
// int8.
//
// ConvInteger has uint8 weights with the zero point 128, the same numbers: not every version of ONNX Runtime
// has a kernel of it for int8.
#include <fmt/format.h>

#include "core/quantize/weights.hpp"

namespace driftscope::quantize::modes::int8_dynamic {
namespace {

struct Weight {
  std::string steps, scale, zero_point;
  Shape scale_shape;
};

struct Activation {
  std::string steps, scale, zero_point;
};

Result<Tensor> transposed(const Tensor& matrix) {
  const std::int64_t rows = matrix.shape()[0];
  const std::int64_t columns = matrix.shape()[1];
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, {columns, rows}));
  const auto from = matrix.values<float>();
  const auto to = made.mutable_values<float>();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * columns + j)];
  return made;
}

/// int8 → uint8 with the zero point 128.
Result<Tensor> unsigned_of(const Tensor& steps) {
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::uint8, steps.shape()));
  const auto from = steps.bytes();
  const auto to = made.mutable_bytes();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] ^ std::byte{128};
  return made;
}

class Dynamic {
 public:
  Dynamic(ModelEdit& edit, const ModeOptions& options) : edit_(edit), options_(options) {}

  Status run() {
    for (const ModelNode& node : edit_.nodes()) DRIFTSCOPE_CHECK(convert(node));
    return {};
  }

 private:
  Status convert(const ModelNode& node) {
    const std::vector<WeightUse> uses =
        options_.keep.contains(node.name) ? std::vector<WeightUse>() : weight_uses(edit_, node);
    for (const WeightUse& use : uses)
      DRIFTSCOPE_CHECK(
          check_finite(*edit_.constant(node.inputs[use.input]), node.name, node.inputs[use.input]));
    if (uses.empty())
      edit_.emit(node);
    else if (node.op_type == "MatMul" && edit_.constant(node.inputs[1])->rank() == 2)
      return product(node, node.inputs[1], *edit_.constant(node.inputs[1]));
    else if (node.op_type == "Gemm" && plain(node))
      return gemm(node);
    else if (node.op_type == "Conv")
      return convolution(node);
    else
      return emit_stored(edit_, node, uses, options_.per_channel);
    return {};
  }

  /// A Gemm that is a product and a bias.
  static bool plain(const ModelNode& node) {
    for (const Attribute& attribute : node.attributes)
      if (attribute.name == "alpha" || attribute.name == "beta") {
        const auto* value = std::get_if<float>(&attribute.value);
        if (value == nullptr || *value != 1.0F) return false;
      }
    return int_of(node, "transA", 0) == 0;
  }

  Status gemm(const ModelNode& node) {
    Tensor weight = *edit_.constant(node.inputs[1]);
    std::string name = node.inputs[1];
    if (int_of(node, "transB", 0) != 0) {
      DRIFTSCOPE_TRY(weight, transposed(weight));
      name += ".transposed";
    }
    return product(node, name, weight);
  }

  Result<Weight> stored_weight(const std::string& name, const Tensor& weight, std::size_t channels,
                               bool as_unsigned) {
    const std::string key = fmt::format("{}/{}/{}", name, channels, as_unsigned);
    if (const auto found = weights_.find(key); found != weights_.end()) return found->second;
    const Grouping grouping = options_.per_channel ? along(channels) : whole_tensor;
    DRIFTSCOPE_TRY(Quantized quantized, quantize_tensor(weight, DType::int8, grouping));
    if (as_unsigned) {
      DRIFTSCOPE_TRY(quantized.steps, unsigned_of(quantized.steps));
      DRIFTSCOPE_TRY(quantized.zero_points, unsigned_of(quantized.zero_points));
    }
    Weight made{"", "", "", quantized.scales.shape()};
    made.steps = edit_.add_constant(name + ".steps", std::move(quantized.steps));
    // Behind [N, M, …] the scales of channels need the axes after it.
    if (options_.per_channel && as_unsigned) {
      Shape wide(static_cast<std::size_t>(weight.rank()) - 1, 1);
      wide[0] = weight.shape()[0];
      DRIFTSCOPE_TRY(quantized.scales, quantized.scales.reshaped(std::move(wide)));
    }
    made.scale = edit_.add_constant(name + ".scale", std::move(quantized.scales));
    made.zero_point = edit_.add_constant(name + ".zero_point", std::move(quantized.zero_points));
    return weights_[key] = made;
  }

  const Activation& activation(const std::string& value) {
    const auto found = activations_.find(value);
    if (found != activations_.end()) return found->second;
    Activation made{edit_.fresh(value + ".steps"), edit_.fresh(value + ".scale"),
                    edit_.fresh(value + ".zero_point")};
    edit_.emit({.name = value + "/DynamicQuantizeLinear",
                .op_type = "DynamicQuantizeLinear",
                .domain = "",
                .inputs = {value},
                .outputs = {made.steps, made.scale, made.zero_point},
                .attributes = {}});
    return activations_[value] = made;
  }

  /// The integer product as float, with its scales.
  std::string scaled(const ModelNode& node, const std::string& sums, const Activation& x, const Weight& w,
                     std::string output) {
    const std::string real = edit_.emit("Cast", node.name + "/Cast", {sums},
                                        {int_attribute_of("to", static_cast<std::int64_t>(DType::float32))});
    const std::string scale = edit_.emit("Mul", node.name + "/scale", {x.scale, w.scale});
    return edit_.emit("Mul", node.name + "/Mul", {real, scale}, {}, std::move(output));
  }

  // A copy, as adding constants moves them.
  Status product(const ModelNode& node, const std::string& name, Tensor weight) {
    DRIFTSCOPE_TRY(const Weight w, stored_weight(name, weight, 1, false));
    const Activation x = activation(node.inputs[0]);
    const std::string sums = edit_.emit("MatMulInteger", node.name + "/MatMulInteger",
                                        {x.steps, w.steps, x.zero_point, w.zero_point});
    const bool bias = node.op_type == "Gemm" && node.inputs.size() > 2 && !node.inputs[2].empty();
    const std::string real = scaled(node, sums, x, w, bias ? "" : node.outputs[0]);
    if (bias) edit_.emit("Add", node.name, {real, node.inputs[2]}, {}, node.outputs[0]);
    return {};
  }

  Status convolution(const ModelNode& node) {
    const Tensor weight = *edit_.constant(node.inputs[1]);
    DRIFTSCOPE_TRY(const Weight w, stored_weight(node.inputs[1], weight, 0, true));
    const Activation x = activation(node.inputs[0]);
    const std::string sums = edit_.emit("ConvInteger", node.name + "/ConvInteger",
                                        {x.steps, w.steps, x.zero_point, w.zero_point}, node.attributes);
    const bool bias = node.inputs.size() > 2 && !node.inputs[2].empty();
    const std::string real = scaled(node, sums, x, w, bias ? "" : node.outputs[0]);
    if (!bias) return {};
    // [M] beside [N, M, …].
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(weight.rank()) - 1, 1);
    sizes[0] = -1;
    DRIFTSCOPE_TRY(Tensor shape, Tensor::from_values<std::int64_t>({std::ssize(sizes)}, sizes));
    const std::string wide =
        edit_.emit("Reshape", node.name + "/bias",
                   {node.inputs[2], edit_.add_constant(node.name + ".bias_shape", std::move(shape))});
    edit_.emit("Add", node.name, {real, wide}, {}, node.outputs[0]);
    return {};
  }

  ModelEdit& edit_;
  const ModeOptions& options_;
  std::map<std::string, Weight> weights_;
  std::map<std::string, Activation> activations_;
};

Status apply(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes) {
  note_stored(edit, options, notes);
  return Dynamic(edit, options).run();
}

}  // namespace

void add_to(ModeTable& table) {
  table.add({.order = 10,
             .name = "int8-dynamic",
             .summary = "int8 weights, uint8 activations with the range of each run; needs no calibration",
             .has_per_channel = true,
             .opset = 11,
             .opset_per_channel = 13,
             .layers = weighted_layers,
             .apply = apply});
}

}  // namespace driftscope::quantize::modes::int8_dynamic
