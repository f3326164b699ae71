// Numbers of a narrower type where the model says float32: factors rounded before they are multiplied,
// results stored in it, functions by coarse polynomials. Judges of sums tell such layers by their errors as a
// whole; these tell it of every element.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/verify/narrow_factors.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::precision {
namespace {

/// A float32 value with each element changed.
template <class Change>
std::function<std::optional<Tensor>()> changed(const LayerCase& layer, ValueId id, Change change) {
  return [&layer, id, change]() -> std::optional<Tensor> {
    const auto tensor = layer.derivation.known_value(id);
    if (!tensor || tensor->dtype() != DType::float32) return std::nullopt;
    auto made = Tensor::make(DType::float32, tensor->shape());
    if (!made.ok()) return std::nullopt;
    std::ranges::transform(tensor->values<float>(), made->mutable_values<float>().begin(), change);
    return *std::move(made);
  };
}

std::function<std::optional<Tensor>()> rounded(const LayerCase& layer, ValueId id, NarrowFormat to) {
  return changed(layer, id, [to](float x) { return rounded_to(to, x); });
}

bool is_float32(const LayerCase& layer, std::size_t place) {
  const Node& node = layer.node();
  return place < node.inputs.size() && node.inputs[place] != no_value &&
         layer.derivation.known_dtype(node.inputs[place]) == DType::float32;
}

/// All float32 inputs; and the first two alone, where a bias stays as it is.
std::vector<Candidate> inputs(const LayerCase& layer, NarrowFormat to) {
  if (layer.got.dtype() != DType::float32) return {};
  Candidate all;
  for (std::size_t i = 0; i < layer.node().inputs.size(); ++i)
    if (is_float32(layer, i)) all.inputs.push_back({i, rounded(layer, layer.node().inputs[i], to)});
  if (all.inputs.empty()) return {};
  std::vector<Candidate> list;
  if (all.inputs.size() > 2) {
    Candidate factors;
    factors.inputs.assign(all.inputs.begin(), all.inputs.begin() + 2);
    list.push_back(std::move(factors));
  }
  list.push_back(std::move(all));
  return list;
}

bool is_recurrent(const Node& node) {
  return node.op_type == "LSTM" || node.op_type == "GRU" || node.op_type == "RNN";
}

/// Weights are input 1, of recurrent operators 2 as well; without and with the bias after them.
std::vector<Candidate> weights(const LayerCase& layer, NarrowFormat to) {
  if (layer.got.dtype() != DType::float32) return {};
  const std::size_t last = is_recurrent(layer.node()) ? 2 : 1;
  std::vector<Candidate> list;
  Candidate made;
  for (std::size_t i = 1; i <= last + 1; ++i) {
    if (is_float32(layer, i)) made.inputs.push_back({i, rounded(layer, layer.node().inputs[i], to)});
    if (i >= last && !made.inputs.empty() && (list.empty() || is_float32(layer, i))) list.push_back(made);
  }
  return list;
}

std::vector<Candidate> activations(const LayerCase& layer, NarrowFormat to) {
  if (layer.got.dtype() != DType::float32 || !is_float32(layer, 0)) return {};
  return {{.inputs = {{0, rounded(layer, layer.node().inputs[0], to)}}}};
}

std::vector<Candidate> output(const LayerCase& layer, DType stored) {
  if (layer.got.dtype() != DType::float32 || layer.output != 0) return {};
  return {{.stored_as = stored}};
}

/// All arithmetic in a narrower type, and its result with it.
std::vector<Candidate> arithmetic(const LayerCase& layer, DType stored) {
  if (layer.got.dtype() != DType::float32 || layer.output != 0) return {};
  ErrorModel model = layer.run.model;
  const ErrorModel narrow = error_model_for(model, stored);
  model.unit_roundoff = narrow.unit_roundoff;
  model.absolute = narrow.absolute;
  return {{.model = model, .stored_as = stored}};
}

/// Results that are subnormal; or inputs that are.
std::vector<Candidate> flushed(const LayerCase& layer) {
  if (layer.run.model.flushes_subnormals || layer.got.dtype() != DType::float32) return {};
  Candidate results{.model = layer.run.model};
  results.model->flushes_subnormals = true;
  Candidate inputs;
  for (std::size_t i = 0; i < layer.node().inputs.size(); ++i) {
    if (!is_float32(layer, i)) continue;
    const auto make = changed(layer, layer.node().inputs[i], [](float x) {
      return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
    });
    inputs.inputs.push_back({i, make});
  }
  std::vector<Candidate> list = {std::move(results)};
  if (!inputs.inputs.empty()) list.push_back(std::move(inputs));
  return list;
}

constexpr std::array<std::string_view, 10> products = {"Conv",
                                                       "ConvTranspose",
                                                       "MatMul",
                                                       "Gemm",
                                                       "Einsum",
                                                       "com.microsoft.FusedConv",
                                                       "com.microsoft.FusedGemm",
                                                       "com.microsoft.FusedMatMul",
                                                       "LSTM",
                                                       "GRU"};

/// A function of the error model by a polynomial of about 10 bits.
std::vector<Candidate> coarse(const LayerCase& layer, FunctionAccuracy ErrorModel::* function) {
  if (layer.got.dtype() != DType::float32) return {};
  // A polynomial errs nearly everywhere, not in one part of its range.
  const auto wrong = layer.wrong_elements();
  if (std::ranges::count(wrong, std::uint8_t{1}) * 2 < static_cast<std::ptrdiff_t>(wrong.size())) return {};
  ErrorModel model = layer.run.model;
  (model.*function).ulp = 0x1p14;
  if (function != &ErrorModel::exp) (model.*function).absolute = 0x1p-11;  // of exp 0 is far away
  return {{.model = model}};
}

}  // namespace

void add_to(VariantTable& table) {
  using Make = std::function<std::vector<Candidate>(const LayerCase&)>;
  const auto with = [](auto make, auto what) -> Make {
    return [make, what](const LayerCase& layer) { return make(layer, what); };
  };
  const auto add = [&](std::string_view id, std::string_view name, int order, Make make,
                       const std::vector<std::string_view>& operators = {}) {
    table.add({.kind = VariantKind::faulty,
               .family = "precision",
               .id = id,
               .name = name,
               .operators = operators,
               .any_operator = operators.empty(),
               .order = order,
               .zeros_tell = id == "flush_subnormals",
               .candidates = std::move(make)});
  };
  const std::vector<std::string_view> sums(products.begin(), products.end());
  add("flush_subnormals", "subnormal numbers taken for 0", 1, flushed);
  add("output_f16", "its results stored in float16", 1, with(output, DType::float16));
  add("output_bf16", "its results stored in bfloat16", 1, with(output, DType::bfloat16));
  add("inputs_f16", "its inputs rounded to float16 or TF32", 3, with(inputs, NarrowFormat::float16));
  add("inputs_tf32", "its inputs rounded to TF32 (beyond the range of float16)", 3,
      with(inputs, NarrowFormat::tf32));
  add("inputs_bf16", "its inputs rounded to bfloat16", 3, with(inputs, NarrowFormat::bfloat16));
  add("inputs_tf32_cut", "its inputs cut to TF32", 3, with(inputs, NarrowFormat::tf32_cut));
  add("inputs_bf16_cut", "its inputs cut to bfloat16", 3, with(inputs, NarrowFormat::bfloat16_cut));
  add("weights_f16", "its weights rounded to float16 or TF32", 2, with(weights, NarrowFormat::float16), sums);
  add("weights_bf16", "its weights rounded to bfloat16", 2, with(weights, NarrowFormat::bfloat16), sums);
  add("activations_f16", "its first input rounded to float16 or TF32", 2,
      with(activations, NarrowFormat::float16), sums);
  add("activations_bf16", "its first input rounded to bfloat16", 2, with(activations, NarrowFormat::bfloat16),
      sums);
  add("accumulate_f16", "all of it in float16", 50, with(arithmetic, DType::float16));
  add("accumulate_bf16", "all of it in bfloat16", 50, with(arithmetic, DType::bfloat16));
  add("approximate_exp", "a coarse exp", 60, with(coarse, &ErrorModel::exp),
      {"Exp", "Softmax", "LogSoftmax"});
  add("approximate_tanh", "a coarse tanh", 60, with(coarse, &ErrorModel::tanh),
      {"Tanh", "LSTM", "GRU", "RNN"});
  add("approximate_sigmoid", "a coarse sigmoid", 60, with(coarse, &ErrorModel::sigmoid),
      {"Sigmoid", "Swish", "HardSwish", "LSTM", "GRU"});
  add("approximate_erf", "a coarse erf", 60, with(coarse, &ErrorModel::erf), {"Erf"});
}

}  // namespace driftscope::variants::precision
