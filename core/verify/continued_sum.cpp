// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/continued_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include "core/numerics/error_model.hpp"

namespace driftscope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// One for the scaled and rounded weight, one for the added term.
constexpr std::int64_t roundings_of_step = 2;

double gamma(std::int64_t roundings, double unit_roundoff) {
  const double product = static_cast<double>(roundings) * unit_roundoff;
  return product < 1.0 ? product / (1.0 - product) : infinity;
}

// Magnitudes are not results: large ones do not mean an overflow.
ErrorModel silent(ErrorModel model) {
  model.overflow = nullptr;
  return model;
}

Evaluated<Bounded> sizes_of(const Evaluated<Bounded>& input) {
  Evaluated<Bounded> sizes = input;
  if (is_known(sizes)) sizes.real = lift_values<Bounded>(input.tensor);
  for (Bounded& x : sizes.real) x = Bounded(std::fabs(x.value) + x.worst);
  return sizes;
}

// Output 0 of the node with one input replaced.
std::optional<Evaluated<Bounded>> with_input(const Node& node, std::size_t input,
                                             const Evaluated<Bounded>& value,
                                             std::span<const Evaluated<Bounded>* const> inputs,
                                             const ErrorModel& model, ThreadPool& threads) {
  std::vector<const Evaluated<Bounded>*> others(inputs.begin(), inputs.end());
  others[input] = &value;
  auto outputs = evaluate<Bounded>(node, others, threads, {.model = &model});
  if (!outputs.ok() || outputs->empty()) return std::nullopt;
  if ((*outputs)[0].real.empty()) return std::nullopt;
  return std::move((*outputs)[0]);
}

std::int64_t terms_of(const Node& node, std::span<const Evaluated<Bounded>* const> inputs) {
  if (node.op_type == "MatMul") return inputs[0]->shape.empty() ? 1 : inputs[0]->shape.back();
  // Every product of a sum has its own factor; the start of the sum is one term more.
  const Shape& factors = inputs[1]->shape;
  if (factors.size() < 2) return 1;
  // The axis of the outputs is 0, except for ConvTranspose, whose windows overlap by at most all taps.
  if (node.op_type == "Gemm") return std::max(factors[0], factors[1]) + 1;
  std::int64_t taps = 1;
  for (std::size_t axis = 2; axis < factors.size(); ++axis) taps *= factors[axis];
  return taps * (node.op_type == "Conv" ? factors[1] : factors[0]) + 1;
}

}  // namespace

bool makes_sum(const Node& node) {
  static constexpr std::array<std::string_view, 4> names = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  return std::ranges::find(names, node.op_type) != names.end();
}

bool continues_sum(const Node& node, std::size_t input, bool known_others) {
  if (node.op_type == "Add" || node.op_type == "Sub") return true;
  if (node.op_type == "BatchNormalization") return input == 0 && known_others;
  if (node.op_type == "Div") return input == 0 && known_others;
  return node.op_type == "Mul" && known_others;
}

std::optional<ContinuedSum> sum_of(const Node& node, std::span<const Evaluated<Bounded>* const> inputs,
                                   const ErrorModel& model, ThreadPool& threads) {
  const ErrorModel quiet = silent(model);
  std::vector<Evaluated<Bounded>> sizes(inputs.size());
  std::vector<const Evaluated<Bounded>*> given(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    if (!is_floating(inputs[i]->dtype)) return std::nullopt;
    sizes[i] = sizes_of(*inputs[i]);
    given[i] = &sizes[i];
  }
  Node positive = node;
  for (Attribute& attribute : positive.attributes.edit())
    if (attribute.name == "alpha" || attribute.name == "beta")
      if (auto* const factor = std::get_if<float>(&attribute.value)) *factor = std::fabs(*factor);
  auto outputs = evaluate<Bounded>(positive, given, threads, {.model = &quiet});
  if (!outputs.ok() || outputs->empty() || (*outputs)[0].real.empty()) return std::nullopt;
  for (Bounded& x : (*outputs)[0].real) x = Bounded(x.value);
  return ContinuedSum{std::move((*outputs)[0]), terms_of(node, inputs)};
}

std::optional<ContinuedSum> continue_sum(const Node& node, std::size_t input, const ContinuedSum& sum,
                                         std::span<const Evaluated<Bounded>* const> inputs,
                                         Evaluated<Bounded>& output, const ErrorModel& engine,
                                         ThreadPool& threads) {
  const ErrorModel quiet = silent(engine);
  Evaluated<Bounded> zero = sum.magnitude;
  std::ranges::fill(zero.real, Bounded());
  // Elementwise the node computes y = scale·x + start: start is its result for x = 0.
  const auto start = with_input(node, input, zero, inputs, quiet, threads);
  auto scaled = with_input(node, input, sum.magnitude, inputs, quiet, threads);
  if (!start || !scaled) return std::nullopt;
  if (start->real.size() != output.real.size() || scaled->real.size() != output.real.size())
    return std::nullopt;

  const ErrorModel model = error_model_for(engine, output.dtype);
  const std::int64_t roundings = sum.terms + roundings_of_step;
  const double worst = gamma(roundings, model.unit_roundoff);
  const double step = gamma(roundings_of_step, model.unit_roundoff) * (1.0 + worst);
  const double likely =
      model.lambda(roundings) * std::sqrt(static_cast<double>(roundings)) * model.unit_roundoff;
  for (std::size_t i = 0; i < output.real.size(); ++i) {
    const double first = std::fabs(start->real[i].value) + start->real[i].worst;
    const double terms = std::fabs(scaled->real[i].value - start->real[i].value);
    scaled->real[i] = Bounded(terms + first);
    Bounded& y = output.real[i];
    // Adding a start of zero does not round.
    if (!(terms > 0.0) || !std::isfinite(y.value)) continue;
    const double more = worst * first + step * terms;
    y.worst += more;
    y.likely += std::fmin(more, likely * first + step * terms);
  }
  return ContinuedSum{std::move(*scaled), roundings};
}

}  // namespace driftscope
