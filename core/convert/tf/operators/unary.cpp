// Operators on single elements that TensorFlow has under some name.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::unary {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 31> names = {{
    {"Abs", "Abs"},
    {"Acos", "Acos"},
    {"Acosh", "Acosh"},
    {"Asin", "Asin"},
    {"Asinh", "Asinh"},
    {"Atan", "Atan"},
    {"Atanh", "Atanh"},
    {"Ceil", "Ceil"},
    {"Cos", "Cos"},
    {"Cosh", "Cosh"},
    {"Erf", "Erf"},
    {"Exp", "Exp"},
    {"Floor", "Floor"},
    {"Identity", "Identity"},
    {"IsNaN", "IsNan"},
    {"Log", "Log"},
    {"Neg", "Neg"},
    {"Not", "LogicalNot"},
    {"Reciprocal", "Reciprocal"},
    {"Relu", "Relu"},
    {"Round", "Round"},
    {"Sigmoid", "Sigmoid"},
    {"Sign", "Sign"},
    {"Sin", "Sin"},
    {"Sinh", "Sinh"},
    {"Sqrt", "Sqrt"},
    {"Tan", "Tan"},
    {"Tanh", "Tanh"},
    {"Softplus", "Softplus"},
    {"Dropout", "Identity"},
    {"Elu", "Elu"},
}};

Status lower(Lowering& lowering, const OnnxNode& node) {
  std::string_view op;
  for (const auto& [onnx, tensorflow] : names)
    if (onnx == node.op_type) op = tensorflow;
  if (!lowering.has(op)) return unsupported(fmt::format("{} has no {}", lowering.dialect().name, op));
  if (node.op_type == "Dropout" && Lowering::has_output(node, 1))
    return unsupported("the mask of Dropout, output 1, has no equivalent");
  DRIFTSCOPE_TRY(Operands x, read_operand(lowering, node));
  return give_elementwise(lowering, node, op, x.order, std::move(x.tensors));
}

// Elu with another factor for negative arguments: the negative part of its result times that.
Status lower_elu(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
  if (alpha == 1.0f) return lower(lowering, node);
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  const std::string one = lowering.elementwise("elu", "Elu", x.tensors);
  DRIFTSCOPE_TRY(const std::string zero, lowering.scalar(0, DType::float32, "zero"));
  DRIFTSCOPE_TRY(const std::string factor,
                 lowering.scalar(static_cast<double>(alpha), DType::float32, "alpha"));
  const std::string negative = lowering.elementwise("scaled", "Mul", {one, factor});
  const std::string below = lowering.elementwise("is_negative", "Less", {one, zero}, DType::boolean);
  return give_elementwise(lowering, node, "SelectV2", x.order, {below, negative, one});
}

}  // namespace

void add_to(OperatorTable& table) {
  for (const auto& [onnx, tensorflow] : names)
    table.add(onnx, onnx == "Elu" ? lower_elu : lower, Prefers::any);
}

}  // namespace driftscope::tf::operators::unary
