// int8-static: the QDQ form of ONNX Runtime's quantize_static. Weights int8 and symmetric, activations uint8
// with the range of the calibration data, biases int32 with the product of both scales; operators stay as
// they are, between QuantizeLinear and DequantizeLinear, and a runtime with integer kernels merges them.
//
// Inputs of every layer are quantized, and outputs of those that are not only products. What merely moves
// elements (MaxPool, Reshape, …) has the steps of its input. A Relu or Clip belongs to the layer before it:
// only its result is quantized. The model's own outputs never are: among 256 steps classes would tie.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/quantize/weights.hpp"

namespace driftscope::quantize::modes::int8_static {
namespace {

template <std::size_t n>
bool is_one_of(const ModelNode& node, const std::array<std::string_view, n>& ops) {
  return node.domain.empty() && std::ranges::find(ops, node.op_type) != ops.end();
}

constexpr std::array<std::string_view, 2> convolutions = {"Conv", "ConvTranspose"};
constexpr std::array<std::string_view, 2> products = {"Gemm", "MatMul"};
constexpr std::array<std::string_view, 4> sums = {"Add", "Concat", "AveragePool", "GlobalAveragePool"};
constexpr std::array<std::string_view, 4> stored = {"Gather", "LSTM", "GRU", "RNN"};
constexpr std::array<std::string_view, 6> movers = {"MaxPool",   "Flatten", "Reshape",
                                                    "Transpose", "Squeeze", "Unsqueeze"};
constexpr std::array<std::string_view, 2> parts_of_layers = {"Relu", "Clip"};

/// What is quantized when the nodes of `keep` are not.
class Plan {
 public:
  Plan(const ModelEdit& edit, const std::set<std::string>& keep) : edit_(edit) {
    for (std::size_t i = 0; i < edit.nodes().size(); ++i) {
      const ModelNode& node = edit.nodes()[i];
      if (!can_be(node) || keep.contains(node.name)) continue;
      if (is_one_of(node, stored)) {
        stored_.insert(i);
        continue;
      }
      layers_.insert(i);
      for (const std::string& input : node.inputs)
        if (edit.is_float_activation(input)) add(input);
      if (is_one_of(node, products)) continue;
      const std::string result = result_of(node);
      if (!edit.is_output(result)) add(result);
    }
  }

  [[nodiscard]] bool is_layer(std::size_t i) const { return layers_.contains(i); }
  /// Only its weights are.
  [[nodiscard]] bool is_stored(std::size_t i) const { return stored_.contains(i); }
  [[nodiscard]] bool is_quantized(const std::string& value) const { return roots_.contains(value); }
  /// The value whose range gives the steps.
  [[nodiscard]] const std::string& root(const std::string& value) const { return roots_.at(value); }
  [[nodiscard]] const std::map<std::string, std::string>& roots() const { return roots_; }

  /// What a layer gives to others: behind the Relu or Clip that is part of it.
  [[nodiscard]] std::string result_of(const ModelNode& node) const {
    std::string value = node.outputs[0];
    while (!edit_.is_output(value) && edit_.readers(value).size() == 1) {
      const ModelNode& reader = edit_.nodes()[edit_.readers(value)[0]];
      if (!is_one_of(reader, parts_of_layers) || reader.inputs[0] != value) break;
      value = reader.outputs[0];
    }
    return value;
  }

  [[nodiscard]] bool can_be(const ModelNode& node) const {
    if (node.outputs.empty() || node.inputs.empty()) return false;
    if (is_one_of(node, stored)) return !weight_uses(edit_, node).empty();
    const auto real = [&](const std::string& input) { return edit_.is_float_activation(input); };
    if (is_one_of(node, convolutions) || is_one_of(node, products)) {
      if (!real(node.inputs[0])) return false;
      if (!weight_uses(edit_, node).empty()) return true;
      return node.op_type == "MatMul" && node.inputs.size() == 2 && real(node.inputs[1]);
    }
    return is_one_of(node, sums) && std::ranges::all_of(node.inputs, real);
  }

 private:
  void add(const std::string& value) {
    std::string at = value;
    std::vector<std::string> path = {value};
    while (edit_.producer(at) < edit_.nodes().size()) {
      const ModelNode& maker = edit_.nodes()[edit_.producer(at)];
      if (!is_one_of(maker, movers) || maker.outputs.size() != 1 ||
          !edit_.is_float_activation(maker.inputs[0]) || edit_.is_output(at))
        break;
      at = maker.inputs[0];
      path.push_back(at);
    }
    for (const std::string& one : path) roots_[one] = at;
  }

  const ModelEdit& edit_;
  std::set<std::size_t> layers_, stored_;
  std::map<std::string, std::string> roots_;
};

class Static {
 public:
  Static(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes)
      : edit_(edit), options_(options), notes_(notes), plan_(edit, options.keep) {}

  Status run() {
    for (const ValueInfo& input : edit_.model().graph.inputs) DRIFTSCOPE_CHECK(quantize(input.name));
    for (std::size_t i = 0; i < edit_.nodes().size(); ++i) {
      ModelNode node = edit_.nodes()[i];
      const std::vector<std::string> given = node.inputs;
      for (std::string& input : node.inputs)
        if (const auto found = real_.find(input); found != real_.end()) input = found->second;
      if (plan_.is_layer(i)) DRIFTSCOPE_CHECK(weights(node, given));
      const std::vector<std::string> outputs = node.outputs;
      if (plan_.is_stored(i)) {
        const std::vector<WeightUse> uses = weight_uses(edit_, edit_.nodes()[i]);
        for (const WeightUse& use : uses)
          DRIFTSCOPE_CHECK(check_finite(*edit_.constant(given[use.input]), node.name, given[use.input]));
        DRIFTSCOPE_CHECK(emit_stored(edit_, std::move(node), uses, options_.per_channel));
      } else {
        edit_.emit(std::move(node));
      }
      for (const std::string& output : outputs) DRIFTSCOPE_CHECK(quantize(output));
    }
    return {};
  }

 private:
  struct Steps {
    std::string scale, zero_point;
    float value = 1.0F;
  };

  Result<const Steps*> steps_of(const std::string& value) {
    const std::string& root = plan_.root(value);
    const auto known = steps_.find(root);
    if (known != steps_.end()) return &known->second;
    const auto range = options_.ranges == nullptr ? std::map<std::string, ValueRange>::const_iterator()
                                                  : options_.ranges->find(root);
    if (options_.ranges == nullptr || range == options_.ranges->end())
      return internal_error(fmt::format("no range of value {}", in_quotes(root)));
    const Affine how = affine(range->second.low, range->second.high, uint8_steps);
    DRIFTSCOPE_TRY(Tensor scale, Tensor::from_values<float>({}, std::array{how.scale}));
    DRIFTSCOPE_TRY(Tensor zero, Tensor::from_values<std::uint8_t>(
                                    {}, std::array{static_cast<std::uint8_t>(how.zero_point)}));
    Steps made{edit_.add_constant(root + ".scale", std::move(scale)),
               edit_.add_constant(root + ".zero_point", std::move(zero)), how.scale};
    return &steps_.emplace(root, std::move(made)).first->second;
  }

  /// There and back, if the plan says so; later readers of the value read the result.
  Status quantize(const std::string& value) {
    if (value.empty() || !plan_.is_quantized(value)) return {};
    DRIFTSCOPE_TRY(const Steps* const steps, steps_of(value));
    const std::string there =
        edit_.emit("QuantizeLinear", value + "/QuantizeLinear", {value, steps->scale, steps->zero_point});
    real_[value] =
        edit_.emit("DequantizeLinear", value + "/DequantizeLinear", {there, steps->scale, steps->zero_point});
    return {};
  }

  Status weights(ModelNode& node, const std::vector<std::string>& given) {
    for (const WeightUse& use : weight_uses(edit_, edit_.nodes()[edit_.producer(node.outputs[0])])) {
      const std::string name = given[use.input];
      const Tensor weight = *edit_.constant(name);
      DRIFTSCOPE_CHECK(check_finite(weight, node.name, name));
      const Grouping grouping = options_.per_channel ? along(use.channels) : whole_tensor;
      const std::pair<std::string, std::size_t> key{name, use.channels};
      if (!made_.contains(key)) {
        DRIFTSCOPE_TRY(Quantized quantized, quantize_tensor(weight, DType::int8, grouping));
        const Tensor scales = quantized.scales;
        made_[key] = {emit_dequantized(edit_, name, std::move(quantized), grouping), scales};
      }
      node.inputs[use.input] = made_[key].first;
      if (node.op_type != "MatMul") DRIFTSCOPE_CHECK(bias(node, given, made_[key].second));
    }
    return {};
  }

  /// A Gemm's bias counts beta times, and may be one row for all.
  Status bias(ModelNode& node, const std::vector<std::string>& given, const Tensor& w_scales) {
    if (node.inputs.size() < 3 || node.inputs[2].empty()) return {};
    const Tensor* const held = edit_.constant(given[2]);
    if (held == nullptr) return {};
    const Tensor values = *held;  // adding constants moves them
    const std::int64_t channels = w_scales.elements();
    for (const Attribute& attribute : node.attributes)
      if (const auto* factor = std::get_if<float>(&attribute.value); factor != nullptr && *factor != 1.0F)
        return {};
    if (values.dtype() != DType::float32 || values.rank() != 1 ||
        (channels != 1 && values.elements() != channels))
      return {};
    DRIFTSCOPE_CHECK(check_finite(values, node.name, given[2]));
    DRIFTSCOPE_TRY(const Steps* const x, steps_of(given[0]));
    DRIFTSCOPE_TRY(QuantizedBias quantized, quantize_bias(values, x->value, w_scales));
    if (quantized.clipped > 0) {
      notes_.push_back(
          fmt::format("{}: {} elements of its bias {} need more than 32 bits at this scale: the bias "
                      "stays in float",
                      in_quotes(node.name), quantized.clipped, in_quotes(given[2])));
      return {};
    }
    std::vector<Attribute> attributes;
    if (w_scales.rank() == 1) attributes.push_back(int_attribute_of("axis", 0));
    node.inputs[2] = edit_.emit("DequantizeLinear", node.name + "/bias",
                                {edit_.add_constant(given[2] + ".steps", std::move(quantized.steps)),
                                 edit_.add_constant(given[2] + ".scale", std::move(quantized.scales))},
                                std::move(attributes));
    return {};
  }

  ModelEdit& edit_;
  const ModeOptions& options_;
  std::vector<std::string>& notes_;
  Plan plan_;
  std::map<std::string, Steps> steps_;  // by root
  std::map<std::string, std::string> real_;
  std::map<std::pair<std::string, std::size_t>, std::pair<std::string, Tensor>> made_;
};

std::vector<std::string> layers(const ModelEdit& edit) {
  const Plan plan(edit, {});
  std::vector<std::string> names;
  for (const ModelNode& node : edit.nodes())
    if (plan.can_be(node)) names.push_back(node.name);
  return names;
}

std::vector<std::string> values(const ModelEdit& edit) {
  const Plan plan(edit, {});
  std::set<std::string> names;
  for (const auto& [value, root] : plan.roots()) names.insert(root);
  return {names.begin(), names.end()};
}

Status apply(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes) {
  note_stored(edit, options, notes);
  return Static(edit, options, notes).run();
}

}  // namespace

void add_to(ModeTable& table) {
  table.add({.order = 20,
             .name = "int8-static",
             .summary = "int8 weights, uint8 activations with ranges from calibration data (QDQ)",
             .calibrated = true,
             .folds_normalization = true,
             .has_per_channel = true,
             .opset = 10,
             .opset_per_channel = 13,
             .layers = layers,
             .values = values,
             .apply = apply});
}

}  // namespace driftscope::quantize::modes::int8_static
