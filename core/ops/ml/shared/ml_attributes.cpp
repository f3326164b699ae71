// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/ml/shared/ml_attributes.hpp"

#include <fmt/format.h>

#include <array>

#include "core/base/text.hpp"

namespace driftscope::ml {

template <class T>
Result<std::span<const T>> list_attribute(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  if (attribute == nullptr) return std::span<const T>();
  if (const auto* list = std::get_if<std::vector<T>>(&attribute->value)) return std::span<const T>(*list);
  if (std::holds_alternative<std::monostate>(attribute->value))
    return unsupported(fmt::format("attribute {}: a value of its type cannot be held here", name));
  constexpr std::string_view kind = std::is_same_v<T, float>         ? "floats"
                                    : std::is_same_v<T, std::string> ? "strings"
                                                                     : "integers";
  return bad_input(fmt::format("attribute {}: expected a list of {}, got another kind", name, kind));
}
template Result<std::span<const float>> list_attribute<float>(const Node&, std::string_view);
template Result<std::span<const std::int64_t>> list_attribute<std::int64_t>(const Node&, std::string_view);
template Result<std::span<const std::string>> list_attribute<std::string>(const Node&, std::string_view);

namespace {

Result<const Tensor*> tensor_attribute(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  const Tensor* none = nullptr;
  if (attribute == nullptr) return none;
  if (const auto* tensor = std::get_if<Tensor>(&attribute->value)) return tensor;
  if (std::holds_alternative<std::monostate>(attribute->value))
    return unsupported(fmt::format("attribute {}: a tensor of its type cannot be held here", name));
  return bad_input(fmt::format("attribute {}: expected a tensor, got another kind", name));
}

constexpr std::array<std::string_view, 5> transform_names = {"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO",
                                                             "PROBIT"};

}  // namespace

Result<Reals> real_tensor_attribute(const Node& node, std::string_view name) {
  DRIFTSCOPE_TRY(const Tensor* const tensor, tensor_attribute(node, name));
  if (tensor == nullptr) return Reals();
  if (tensor->dtype() == DType::float32) return Reals(tensor->values<float>());
  if (tensor->dtype() == DType::float64) return Reals(tensor->values<double>());
  if (is_floating(tensor->dtype()))
    return unsupported(fmt::format("attribute {}: {} is not known here", name, dtype_name(tensor->dtype())));
  return bad_input(fmt::format("attribute {}: expected a floating-point tensor, got {}", name,
                               dtype_name(tensor->dtype())));
}

Result<std::span<const std::uint8_t>> byte_tensor_attribute(const Node& node, std::string_view name) {
  DRIFTSCOPE_TRY(const Tensor* const tensor, tensor_attribute(node, name));
  if (tensor == nullptr) return std::span<const std::uint8_t>();
  if (tensor->dtype() == DType::uint8) return tensor->values<std::uint8_t>();
  return bad_input(
      fmt::format("attribute {}: expected a tensor of uint8, got {}", name, dtype_name(tensor->dtype())));
}

Result<Reals> reals_attribute(const Node& node, std::string_view name) {
  DRIFTSCOPE_TRY(const auto floats, list_attribute<float>(node, name));
  const std::string other = std::string(name) + "_as_tensor";
  DRIFTSCOPE_TRY(const Reals reals, real_tensor_attribute(node, other));
  if (!floats.empty() && !reals.empty())
    return bad_input(fmt::format("attributes {} and {}: only one of them may be given", name, other));
  return floats.empty() ? reals : Reals(floats);
}

Status expect_size(std::string_view name, std::size_t got, std::size_t expected, std::string_view why) {
  if (got == expected) return {};
  return bad_input(fmt::format("attribute {}: expected {} values ({}), got {}", name, expected, why, got));
}

Status expect_rows(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::numeric));
  return expect_rank(context, 0, "X", 1, 2);
}

Dimension rows_of(const InferContext& context) {
  const auto& shape = context.input(0).shape;
  if (!shape) return {};
  return shape->size() == 1 ? known_dimension(1) : shape->front();
}

Dimension features_of(const InferContext& context) {
  const auto& shape = context.input(0).shape;
  return shape && !shape->empty() ? shape->back() : Dimension{};
}

Rows rows_of(const Shape& shape) {
  return {shape.size() == 2 ? shape[0] : 1, shape.empty() ? 0 : shape.back()};
}

Status expect_features(const Dimension& features, std::int64_t expected, std::string_view why) {
  if (!features.known() || features.size == expected) return {};
  return bad_input(fmt::format("{}: expected {} features ({}), got {}", input_label(0, "X"), expected, why,
                               features.size));
}

Result<Labels> read_labels(const Node& node, std::string_view integers, std::string_view strings) {
  DRIFTSCOPE_TRY(const auto numbers, list_attribute<std::int64_t>(node, integers));
  DRIFTSCOPE_TRY(const auto texts, list_attribute<std::string>(node, strings));
  if (!numbers.empty() && !texts.empty())
    return bad_input(fmt::format("attributes {} and {}: only one of them may be given", integers, strings));
  if (numbers.empty() && texts.empty())
    return bad_input(fmt::format("attributes {} and {}: one of them is required, both are missing or empty",
                                 integers, strings));
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (!valid_utf8(texts[i]))
      return bad_input(fmt::format("attribute {}: expected UTF-8, label {} is not", strings, i));
  return Labels{numbers, std::max(numbers.size(), texts.size()), !texts.empty()};
}

Result<std::vector<TensorType>> classifier_types(const InferContext& context, const Labels& labels,
                                                 std::int64_t width) {
  const Node& node = context.node();
  if (labels.strings && !node.outputs.empty() && node.outputs[0] != no_value)
    return unsupported("output 0: its labels are strings, which cannot be held here");
  const Dimension rows = rows_of(context);
  return std::vector{TensorType{DType::int64, SymbolicShape{rows}},
                     TensorType{DType::float32, SymbolicShape{rows, known_dimension(width)}}};
}

Result<Transform> transform_attribute(const Node& node) {
  DRIFTSCOPE_TRY(const std::string name, string_attribute(node, "post_transform", "NONE"));
  const auto found = std::ranges::find(transform_names, name);
  if (found != transform_names.end()) return static_cast<Transform>(found - transform_names.begin());
  return bad_input(fmt::format(
      "attribute post_transform: expected NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT, got {}",
      in_quotes(name)));
}

// TreeEnsemble: NONE 0, SOFTMAX 1, LOGISTIC 2, SOFTMAX_ZERO 3, PROBIT 4.
Result<Transform> transform_of(std::int64_t number) {
  constexpr std::array<Transform, 5> order = {Transform::none, Transform::softmax, Transform::logistic,
                                              Transform::softmax_zero, Transform::probit};
  if (number >= 0 && number < 5) return order[static_cast<std::size_t>(number)];
  return bad_input(fmt::format("attribute post_transform: expected 0 to 4, got {}", number));
}

namespace {

void widen(Bounded& x, double error) {
  x.worst += error;
  x.likely += error;
  x.systematic += error;
}

// Runtimes take 1 − 1/(1 + e^x) for negative x as well: an absolute error of a rounding or two near 1.
template <class S>
S logistic(const S& x) {
  S y = math::sigmoid(x);
  if constexpr (std::is_same_v<S, Bounded>)
    if (x.value < 0.0) widen(y, 4.0 * current_error_model().unit_roundoff);
  return y;
}

// √2·erf⁻¹(2x − 1) by Winitzki's formula with a = 0.147, as ONNX Runtime has it, whose π has six digits.
template <class S>
S probit(const S& x) {
  const S t = x * math::exact<S>(2.0) - math::exact<S>(1.0);
  const S one = math::exact<S>(1.0);
  const S log = math::log((one - t) * (one + t));
  const auto constant = [](double exact) {
    S c = math::rounded_constant<S>(exact);
    if constexpr (std::is_same_v<S, Bounded>) widen(c, 1e-6 * std::fabs(exact));
    return c;
  };
  const S v = constant(2.0 / (3.14159 * 0.147)) + log * math::exact<S>(0.5);
  const S root = math::sqrt(v * v - log * constant(1.0 / 0.147));
  const S y = math::sqrt(root - v) * math::rounded_constant<S>(1.41421356);
  return math::to_double(t) < 0.0 ? -y : y;
}

constexpr double almost_zero = 1e-7;

template <class S>
void softmax(std::span<S> scores, bool without_zeros) {
  S largest = scores[0];
  for (const S& x : scores) largest = math::max(largest, x);
  Sum<S> sum;
  bool unclear = false;  // whether a score is taken for zero
  bool any = false;
  for (S& x : scores) {
    const double size = std::fabs(math::to_double(x));
    if constexpr (std::is_same_v<S, Bounded>)
      unclear = unclear || (without_zeros && x.worst > 0.0 && std::fabs(size - almost_zero) <= x.worst);
    if (without_zeros && !(size > almost_zero)) {
      x = x * math::exp(-largest);
      continue;
    }
    x = math::exp(x - largest);
    sum.add(x);
    any = true;
  }
  const S total = sum.result();
  for (S& x : scores) {
    if constexpr (std::is_same_v<S, Bounded>)
      x = x * (Bounded(1.0) / total);  // a factor or a divisor
    else
      x = x / total;
    if constexpr (std::is_same_v<S, Bounded>)
      if (unclear || !any) widen(x, std::numeric_limits<double>::infinity());
  }
}

}  // namespace

template <class S>
void apply_transform(Transform transform, std::span<S> scores) {
  if (scores.empty()) return;
  switch (transform) {
    case Transform::none: return;
    case Transform::logistic:
      for (S& x : scores) x = logistic(x);
      return;
    case Transform::probit:
      for (S& x : scores) x = probit(x);
      return;
    case Transform::softmax:
    case Transform::softmax_zero: softmax(scores, transform == Transform::softmax_zero);
  }
}
template void apply_transform<double>(Transform, std::span<double>);
template void apply_transform<Bounded>(Transform, std::span<Bounded>);
template void apply_transform<float>(Transform, std::span<float>);

template <class S>
std::size_t largest_score(std::span<const S> scores, std::vector<std::size_t>* rivals) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (math::value(scores[i]) > math::value(scores[best])) best = i;
  if constexpr (std::is_same_v<S, Bounded>)
    if (rivals != nullptr)
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const double room = scores[i].worst + scores[best].worst;
        if (i != best && room > 0.0 && !(scores[best].value - scores[i].value > room)) rivals->push_back(i);
      }
  return best;
}
template std::size_t largest_score<double>(std::span<const double>, std::vector<std::size_t>*);
template std::size_t largest_score<Bounded>(std::span<const Bounded>, std::vector<std::size_t>*);
template std::size_t largest_score<float>(std::span<const float>, std::vector<std::size_t>*);

Bounded label_bound(const Labels& labels, std::size_t best, std::span<const std::size_t> rivals) {
  const auto label = [&](std::size_t i) { return static_cast<double>(labels.numbers[i]); };
  double far = 0.0;
  for (const std::size_t i : rivals) far = std::fmax(far, std::fabs(label(i) - label(best)));
  return {label(best), far, far};
}

}  // namespace driftscope::ml
