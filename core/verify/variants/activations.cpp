// Functions of single elements that a runtime leaves out, applies twice, or computes without their limits;
// and NaN that becomes a number, as by max(x, 0) in shaders.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/eval/evaluate.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/element.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::activations {
namespace {

bool has(const Node& node, std::size_t place) {
  return place < node.inputs.size() && node.inputs[place] != no_value;
}

/// The first input as it is.
std::vector<Candidate> missing(const LayerCase& layer) {
  const Node& node = layer.node();
  if (!has(node, 0) || layer.output != 0) return {};
  Node identity = node;
  identity.op_type = "Identity";
  identity.domain.clear();
  identity.opset = 21;
  identity.inputs.resize(1);
  identity.outputs.resize(1);
  identity.attributes.edit().clear();
  return {{.node = std::move(identity)}};
}

std::vector<Candidate> twice(const LayerCase& layer) {
  const Node& node = layer.node();
  if (!has(node, 0) || layer.output != 0) return {};
  const auto make = [&layer]() -> std::optional<Tensor> {
    const DerivationInputs* const inputs = layer.known_inputs();
    if (inputs == nullptr) return std::nullopt;
    std::vector<const Tensor*> tensors;
    for (std::size_t i = 0; i < inputs->tensors.size(); ++i) tensors.push_back(inputs->tensor(i));
    auto results = evaluate_strict(layer.node(), tensors, layer.threads);
    if (!results.ok() || results->empty() || (*results)[0].shape() != inputs->tensors[0].shape())
      return std::nullopt;
    return std::move((*results)[0]);
  };
  return {{.inputs = {{0, make}}}};
}

/// Clip without one of its limits, or without both.
std::vector<Candidate> without_limits(const LayerCase& layer) {
  const Node& node = layer.node();
  std::vector<Candidate> list;
  const auto add = [&](bool low, bool high, const char* which) {
    Node other = node;
    if (low && has(node, 1)) other.inputs[1] = no_value;
    if (high && has(node, 2)) other.inputs[2] = no_value;
    list.push_back({.node = std::move(other), .detail = which});
  };
  if (has(node, 2)) add(false, true, "(the upper one)");
  if (has(node, 1)) add(true, false, "(the lower one)");
  if (has(node, 1) && has(node, 2)) add(true, true, "(both)");
  return list;
}

/// NaN of an input counts as `value`.
std::vector<Candidate> swallowed(const LayerCase& layer) {
  const Node& node = layer.node();
  if (!has(node, 0)) return {};
  std::vector<Candidate> list;
  for (const float value : {0.0f, -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::lowest(), std::numeric_limits<float>::infinity()}) {
    const auto make = [&layer, id = node.inputs[0], value]() -> std::optional<Tensor> {
      auto tensor = layer.derivation.known_value(id);
      if (!tensor || tensor->dtype() != DType::float32) return std::nullopt;
      bool any = false;
      auto made = Tensor::make(DType::float32, tensor->shape());
      if (!made.ok()) return std::nullopt;
      const auto from = tensor->values<float>();
      const auto to = made->mutable_values<float>();
      for (std::size_t i = 0; i < from.size(); ++i) {
        any = any || std::isnan(from[i]);
        to[i] = std::isnan(from[i]) ? value : from[i];
      }
      return any ? std::optional(*std::move(made)) : std::nullopt;
    };
    list.push_back({.inputs = {{0, make}}});
  }
  return list;
}

/// Negative results as 0: a Relu that the model does not have.
std::vector<Candidate> added(const LayerCase& layer) {
  if (layer.output != 0) return {};
  const std::span<const Bounded> right = layer.right();
  if (static_cast<std::int64_t>(right.size()) != layer.got.elements()) return {};
  return {{.source = [right](std::int64_t i) {
    return right[static_cast<std::size_t>(i)].value < 0.0 ? source_zero : i;
  }}};
}

/// Arguments of exp limited to those of Cephes' single precision, ln(2^127.5), which vector code took over:
/// float32 goes on to 88.72.
std::vector<Candidate> limited_argument(const LayerCase& layer) {
  constexpr float limit = 88.3762626647949f;
  if (layer.node().inputs.empty()) return {};
  const auto x = layer.derivation.known_value(layer.node().inputs[0]);
  if (!x || x->dtype() != DType::float32 || x->shape() != layer.got.shape() ||
      std::ranges::none_of(x->values<float>(), [](float value) { return value > limit; }))
    return {};
  const auto limited = [x]() -> std::optional<Tensor> {
    auto made = Tensor::make(DType::float32, x->shape());
    if (!made.ok()) return std::nullopt;
    std::ranges::transform(x->values<float>(), made->mutable_values<float>().begin(),
                           [](float value) { return value > limit ? limit : value; });
    return *std::move(made);
  };
  return {{.source =
               [x](std::int64_t i) {
                 return x->values<float>()[static_cast<std::size_t>(i)] > limit ? source_infinity : i;
               },
           .detail = "(∞ beyond)"},
          {.inputs = {{0, limited}}}};
}

/// NaN where the base is negative: a power by exp and log.
std::vector<Candidate> nan_of_negative(const LayerCase& layer) {
  const auto base =
      layer.node().inputs.empty() ? std::nullopt : layer.derivation.known_value(layer.node().inputs[0]);
  if (!base || base->dtype() != DType::float32 || base->shape() != layer.got.shape()) return {};
  return {{.source = [base](std::int64_t i) {
    return base->values<float>()[static_cast<std::size_t>(i)] < 0.0f ? source_nan : i;
  }}};
}

/// Exponents of numbers from which no maximum, or one of at least 0, was subtracted leave the range of
/// float32: 0/0 or ∞/∞.
template <bool from_zero>
std::vector<Candidate> other_maximum(const LayerCase& layer) {
  const auto x =
      layer.node().inputs.empty() ? std::nullopt : layer.derivation.known_value(layer.node().inputs[0]);
  const auto given = int_attribute(layer.node(), "axis", -1);
  if (!x || !given.ok() || x->dtype() != DType::float32 || x->shape() != layer.got.shape()) return {};
  const auto rank = static_cast<std::int64_t>(x->shape().size());
  const std::int64_t axis = *given < 0 ? *given + rank : *given;
  if (axis < 0 || axis >= rank) return {};
  std::int64_t inner = 1;
  for (std::int64_t i = axis + 1; i < rank; ++i) inner *= x->shape()[static_cast<std::size_t>(i)];
  const std::int64_t size = x->shape()[static_cast<std::size_t>(axis)];
  const auto values = x->values<float>();
  auto lost = std::make_shared<std::vector<std::uint8_t>>(values.size());
  for (std::int64_t first = 0; first < x->elements(); ++first) {
    if (first / inner % size != 0) continue;
    float largest = from_zero ? 0.0f : -HUGE_VALF;
    float sum = 0.0f;
    const auto at = [&](std::int64_t k) { return values[static_cast<std::size_t>(first + k * inner)]; };
    for (std::int64_t k = 0; from_zero && k < size; ++k) largest = std::fmax(largest, at(k));
    for (std::int64_t k = 0; k < size; ++k) sum += std::exp(at(k) - (from_zero ? largest : 0.0f));
    const bool none = !(sum > 0.0f) || std::isinf(sum);
    for (std::int64_t k = 0; k < size; ++k) {
      const bool nan = std::isinf(sum) ? std::isinf(std::exp(at(k))) : none;
      const bool zero = std::isinf(sum) && !nan;
      (*lost)[static_cast<std::size_t>(first + k * inner)] = nan ? 2 : zero ? 1 : 0;
    }
  }
  return {{.source = [lost](std::int64_t i) {
    const std::uint8_t how = (*lost)[static_cast<std::size_t>(i)];
    return how == 0 ? i : how == 1 ? source_zero : source_nan;
  }}};
}

const std::vector<std::string_view>& functions() {
  static const std::vector<std::string_view> list = {"Relu",
                                                     "LeakyRelu",
                                                     "Elu",
                                                     "Celu",
                                                     "Selu",
                                                     "Sigmoid",
                                                     "HardSigmoid",
                                                     "Tanh",
                                                     "Gelu",
                                                     "HardSwish",
                                                     "Swish",
                                                     "Mish",
                                                     "Softplus",
                                                     "Softsign",
                                                     "Clip",
                                                     "Softmax",
                                                     "Abs",
                                                     "LogSoftmax",
                                                     "Exp",
                                                     "Log",
                                                     "Sqrt",
                                                     "Reciprocal",
                                                     "Neg",
                                                     "Floor",
                                                     "Ceil",
                                                     "Round",
                                                     "Erf",
                                                     "Sin",
                                                     "Cos",
                                                     "PRelu",
                                                     "ThresholdedRelu",
                                                     "com.microsoft.Gelu",
                                                     "com.microsoft.QuickGelu",
                                                     "com.microsoft.FastGelu"};
  return list;
}

}  // namespace

void add_to(VariantTable& table) {
  const auto add = [&](std::string_view id, std::string_view name, int order,
                       std::function<std::vector<Candidate>(const LayerCase&)> make,
                       const std::vector<std::string_view>& operators) {
    table.add({.kind = VariantKind::faulty,
               .family = "activation",
               .id = id,
               .name = name,
               .operators = operators,
               .any_operator = operators.empty(),
               .order = order,
               .candidates = std::move(make)});
  };
  add("missing", "its input passed on as it is", 12, missing, functions());
  add("twice", "the function applied twice", 16, twice, functions());
  add("limit_missing", "a limit left out", 11, without_limits, {"Clip"});
  add("nan_swallowed", "NaN taken for a number", 0, swallowed,
      {"Relu", "Clip", "Max", "Min", "LeakyRelu", "MaxPool", "ReduceMax", "ReduceMin", "GlobalMaxPool"});
  add("exp_limited", "arguments of exp limited to 88.376", 10, limited_argument, {"Exp", "Softplus"});
  add("nan_of_negative", "NaN for negative bases, as by exp and log", 9, nan_of_negative, {"Pow"});
  add("softmax_without_maximum", "the maximum of its row not subtracted before exp", 9, other_maximum<false>,
      {"Softmax"});
  add("softmax_maximum_of_zero", "a maximum of at least 0 subtracted before exp", 9, other_maximum<true>,
      {"Softmax"});
  add("added", "negative results set to 0 (a Relu)", 18, added, {});
}

}  // namespace driftscope::variants::activations
