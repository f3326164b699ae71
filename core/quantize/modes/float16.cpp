// float16: weights and inner values in half precision; the model's inputs and outputs keep their types, with
// a Cast at each: as ONNX Runtime's convert_float_to_float16 with keep_io_types. Finite weights beyond 65504
// become 65504, those nearer to 0 than the smallest half become that one. Operators of ONNX Runtime's block
// list stay in float32 between Casts, and so do nodes that are kept, subgraphs, and operators of other
// domains.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/half.hpp"
#include "core/base/text.hpp"
#include "core/quantize/weights.hpp"

namespace driftscope::quantize::modes::float16 {
namespace {

// As ONNX Runtime has them: its smallest is a little above 2^-24, and rounds to it.
constexpr double smallest = 5.96e-08;
constexpr double largest = 65504.0;

constexpr std::array<std::string_view, 27> blocked = {
    // ONNX Runtime's list (onnxruntime/transformers/float16.py, DEFAULT_OP_BLOCK_LIST), ONNX's own domain.
    "OneHot", "RandomUniformLike", "NonMaxSuppression", "TopK", "RoiAlign", "Range", "CumSum", "Min", "Max",
    "Upsample",
    // Types that ONNX does not give them, or that decide about them.
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "RandomNormal", "RandomNormalLike",
    "RandomUniform", "Multinomial", "Bernoulli", "EyeLike", "HannWindow", "HammingWindow", "BlackmanWindow",
    "MelWeightMatrix", "DeformConv", "Det", "CastLike", "ConstantOfShape"};

/// Inputs that are float32 whatever the others are.
bool always_float(const ModelNode& node, std::size_t input) {
  return node.op_type == "Resize" && (input == 1 || input == 2);
}

double clamped(double x) {
  if (!std::isfinite(x) || x == 0.0) return x;
  return std::copysign(std::clamp(std::fabs(x), smallest, largest), x);
}

class Half {
 public:
  Half(ModelEdit& edit, const ModeOptions& options) : edit_(edit), options_(options) {}

  Status run() {
    for (const ModelNode& node : edit_.nodes()) DRIFTSCOPE_CHECK(convert(node));
    return {};
  }
  [[nodiscard]] std::int64_t clamped_weights() const { return clamped_; }

 private:
  Status convert(ModelNode node) {
    const bool half = is_half(node);
    if (half && node.op_type == "Cast" && int_of(node, "to", 0) == static_cast<int>(DType::float32))
      for (Attribute& one : node.attributes.edit())
        if (one.name == "to") one.value = static_cast<std::int64_t>(DType::float16);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      std::string& input = node.inputs[i];
      if (half && !always_float(node, i)) {
        DRIFTSCOPE_TRY(input, as_half(input));
      } else if (!half) {
        input = as_float(input);
      }
    }
    if (!half) inner_reads(node);
    const std::vector<std::string> outputs = node.outputs;
    std::vector<std::string> casts;
    if (half)
      for (std::string& output : node.outputs) {
        if (output.empty() || !edit_.is_float_activation(output)) continue;
        if (!edit_.is_output(output)) {
          half_[output] = output;
          continue;
        }
        casts.push_back(output);
        const std::string name = edit_.fresh(output + ".float16");
        half_[output] = name;
        output = name;
      }
    edit_.emit(std::move(node));
    for (const std::string& output : casts) {
      edit_.emit("Cast", output + "/Cast", {half_[output]},
                 {int_attribute_of("to", static_cast<std::int64_t>(DType::float32))}, output);
      float_[output] = output;
    }
    return {};
  }

  /// Whether a node computes in float16: it has floats at all, and nothing against it.
  [[nodiscard]] bool is_half(const ModelNode& node) const {
    if (!node.domain.empty() || options_.keep.contains(node.name) ||
        std::ranges::find(blocked, node.op_type) != blocked.end())
      return false;
    for (const Attribute& attribute : node.attributes)
      if (std::holds_alternative<std::shared_ptr<const ModelGraph>>(attribute.value) ||
          std::holds_alternative<Tensor>(attribute.value))
        return false;
    return true;
  }

  Result<std::string> as_half(const std::string& value) {
    if (const auto found = half_.find(value); found != half_.end()) return found->second;
    if (const Tensor* const constant = edit_.constant(value)) {
      if (constant->dtype() != DType::float32) return value;
      DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float16, constant->shape(), value));
      const auto from = constant->values<float>();
      const auto to = made.mutable_values<std::uint16_t>();
      for (std::size_t i = 0; i < from.size(); ++i) {
        const double x = clamped(static_cast<double>(from[i]));
        clamped_ += x != static_cast<double>(from[i]) && std::isfinite(x) ? 1 : 0;
        to[i] = narrow(float16_format, x);
      }
      return half_[value] = edit_.add_constant(value + ".float16", std::move(made));
    }
    if (!edit_.is_float_activation(value)) return value;
    return half_[value] = edit_.emit("Cast", value + "/Cast_float16", {value},
                                     {int_attribute_of("to", static_cast<std::int64_t>(DType::float16))});
  }

  /// Only of values that are half.
  std::string as_float(const std::string& value) {
    if (edit_.constant(value) != nullptr) return value;
    if (const auto found = float_.find(value); found != float_.end()) return found->second;
    const auto half = half_.find(value);
    if (half == half_.end() || half->second != value) return value;
    return float_[value] = edit_.emit("Cast", value + "/Cast_float32", {value},
                                      {int_attribute_of("to", static_cast<std::int64_t>(DType::float32))});
  }

  /// Subgraphs read values by name: their names are those of the float32 values.
  void inner_reads(ModelNode& node) {
    for (Attribute& attribute : node.attributes.edit())
      if (auto* held = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value))
        *held = renamed(**held);
  }
  std::shared_ptr<const ModelGraph> renamed(const ModelGraph& graph) {
    ModelGraph copy = graph;
    for (ModelNode& node : copy.nodes) {
      for (std::string& input : node.inputs) input = as_float(input);
      inner_reads(node);
    }
    for (ValueInfo& output : copy.outputs) output.name = as_float(output.name);
    return std::make_shared<const ModelGraph>(std::move(copy));
  }

  ModelEdit& edit_;
  const ModeOptions& options_;
  std::map<std::string, std::string> half_;   // the float16 form of a value, which may be the value itself
  std::map<std::string, std::string> float_;  // the float32 form of values that are half themselves
  std::int64_t clamped_ = 0;
};

Status apply(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes) {
  Half half(edit, options);
  DRIFTSCOPE_CHECK(half.run());
  if (half.clamped_weights() > 0)
    notes.push_back(
        fmt::format("{} numbers that float16 cannot hold became the nearest that it can (±{} to ±{})",
                    half.clamped_weights(), smallest, largest));
  return {};
}

}  // namespace

void add_to(ModeTable& table) {
  table.add({.order = 30,
             .name = "float16",
             .summary = "half precision inside, float32 at inputs and outputs",
             .layers = weighted_layers,
             .apply = apply});
}

}  // namespace driftscope::quantize::modes::float16
