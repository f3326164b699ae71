// Activations with parameters, or without an operator of their own in TensorFlow.
#include <fmt/format.h>

#include <cmath>

#include "core/convert/tf/activations.hpp"
#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::activations {
namespace {

using Kind = Activation::Kind;

struct Row {
  std::string_view name;
  Kind kind;
  float alpha;
  float beta;
};
constexpr std::array<Row, 4> rows = {{{"HardSigmoid", Kind::hard_sigmoid, 0.2f, 0.5f},
                                      {"Softsign", Kind::softsign, 0, 0},
                                      {"ThresholdedRelu", Kind::thresholded_relu, 1, 0},
                                      {"Elu", Kind::elu, 1, 0}}};

Status lower(Lowering& lowering, const OnnxNode& node) {
  for (const Row& row : rows) {
    if (row.name != node.op_type) continue;
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", row.alpha));
    DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", row.beta));
    DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
    if (row.kind == Kind::elu && alpha == 1.0f)
      return give_elementwise(lowering, node, "Elu", x.order, x.tensors);
    return lowering.give_same(node.outputs[0], activated(lowering, {row.kind, alpha, beta}, x.tensors[0]),
                              x.order);
  }
  return internal_error(fmt::format("{} is not an activation", node.op_type));
}

Status lower_leaky_relu(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 0.01f));
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  return give_elementwise(lowering, node, "LeakyRelu", x.order, x.tensors, {{"alpha", alpha}});
}

// TensorFlow's Selu has ONNX's parameters fixed; others scale an Elu.
Status lower_selu(Lowering& lowering, const OnnxNode& node) {
  constexpr float own_alpha = 1.67326319217681884765625f;
  constexpr float own_gamma = 1.05070102214813232421875f;
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", own_alpha));
  DRIFTSCOPE_TRY(const float gamma, float_attribute(node, "gamma", own_gamma));
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  if (alpha == own_alpha && gamma == own_gamma && lowering.has("Selu"))
    return give_elementwise(lowering, node, "Selu", x.order, x.tensors);
  const std::string elu = activated(lowering, {Kind::elu, alpha, 0.0f}, x.tensors[0]);
  return give_elementwise(lowering, node, "Mul", x.order, {elu, lowering.number(static_cast<double>(gamma))});
}

// max(0, x) + min(0, alpha·(exp(x/alpha) − 1)): an Elu of x/alpha below zero.
Status lower_celu(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
  if (!(alpha > 0.0f)) return unsupported("an alpha that is not positive has no equivalent");
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  const std::string factor = lowering.number(static_cast<double>(alpha));
  const std::string quotient = lowering.elementwise("quotient", "RealDiv", {x.tensors[0], factor});
  const std::string elu = lowering.elementwise("elu", "Elu", {quotient});
  return give_elementwise(lowering, node, "Mul", x.order, {elu, factor});
}

Status lower_hard_swish(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  const std::string gate =
      activated(lowering, {Kind::hard_sigmoid, static_cast<float>(1.0 / 6.0), 0.5f}, x.tensors[0]);
  return give_elementwise(lowering, node, "Mul", x.order, {x.tensors[0], gate});
}

Status lower_mish(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  const std::string plus = lowering.elementwise("softplus", "Softplus", {x.tensors[0]});
  const std::string tanh = lowering.elementwise("tanh", "Tanh", {plus});
  return give_elementwise(lowering, node, "Mul", x.order, {x.tensors[0], tanh});
}

// ½·x·(1 + erf(x/√2)), or with approximate="tanh" ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
Status lower_gelu(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::string approximate, string_attribute(node, "approximate", "none"));
  DRIFTSCOPE_TRY(const Operands operands, read_operand(lowering, node));
  const std::string& x = operands.tensors[0];
  if (lowering.dialect().has != nullptr && lowering.has("Gelu"))
    return give_elementwise(lowering, node, "Gelu", operands.order, {x},
                            {{"approximate", approximate == "tanh"}});
  std::string inner;
  if (approximate == "tanh") {
    const std::string square = lowering.elementwise("square", "Mul", {x, x});
    const std::string cube = lowering.elementwise("cube", "Mul", {square, x});
    const std::string part = lowering.elementwise("part", "Mul", {cube, lowering.number(0.044715)});
    const std::string sum = lowering.elementwise("sum", "AddV2", {x, part});
    const std::string scaled = lowering.elementwise(
        "argument", "Mul", {sum, lowering.number(std::sqrt(2.0 / 3.14159265358979323846))});
    inner = lowering.elementwise("tanh", "Tanh", {scaled});
  } else {
    if (!lowering.has("Erf")) return unsupported(fmt::format("{} has no Erf", lowering.dialect().name));
    const std::string scaled = lowering.elementwise("argument", "Mul", {x, lowering.number(std::sqrt(0.5))});
    inner = lowering.elementwise("erf", "Erf", {scaled});
  }
  const std::string half = lowering.elementwise("half", "Mul", {x, lowering.number(0.5)});
  const std::string more = lowering.elementwise("more", "AddV2", {inner, lowering.number(1)});
  return give_elementwise(lowering, node, "Mul", operands.order, {half, more});
}

// x + bias below −lambd, which comes first, x − bias above lambd, 0 between.
Status lower_shrink(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const float bias, float_attribute(node, "bias", 0.0f));
  DRIFTSCOPE_TRY(const float lambd, float_attribute(node, "lambd", 0.5f));
  DRIFTSCOPE_TRY(const Operands operands, read_operand(lowering, node));
  const std::string& x = operands.tensors[0];
  if (lowering.info(x).dtype != DType::float32) return unsupported("Shrink of integers has no equivalent");
  const std::string shift = lowering.number(static_cast<double>(bias));
  const std::string above = lowering.elementwise(
      "is_above", "Greater", {x, lowering.number(static_cast<double>(lambd))}, DType::boolean);
  const std::string below = lowering.elementwise(
      "is_below", "Less", {x, lowering.number(-static_cast<double>(lambd))}, DType::boolean);
  const std::string less = lowering.elementwise("less", "Sub", {x, shift});
  const std::string more = lowering.elementwise("more", "AddV2", {x, shift});
  const std::string high =
      lowering.elementwise("high", "SelectV2", {above, less, lowering.number(0)}, DType::float32);
  return give_elementwise(lowering, node, "SelectV2", operands.order, {below, more, high});
}

}  // namespace

void add_to(OperatorTable& table) {
  for (const Row& row : rows) table.add(row.name, lower, Prefers::any);
  table.add("LeakyRelu", lower_leaky_relu, Prefers::any);
  table.add("Selu", lower_selu, Prefers::any);
  table.add("Celu", lower_celu, Prefers::any);
  table.add("HardSwish", lower_hard_swish, Prefers::any);
  table.add("Mish", lower_mish, Prefers::any);
  table.add("Gelu", lower_gelu, Prefers::any);
  table.add("Shrink", lower_shrink, Prefers::any);
}

}  // namespace driftscope::tf::operators::activations
