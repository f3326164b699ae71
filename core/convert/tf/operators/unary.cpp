// Operators on single elements that TensorFlow has under some name.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::unary {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 30> names = {{
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
}};

Status check_dropout(const Lowering& lowering, const OnnxNode& node) {
  if (Lowering::has_output(node, 1)) return unsupported("the mask of Dropout, output 1, has no equivalent");
  if (!Lowering::has_input(node, 2)) return {};
  DRIFTSCOPE_TRY(const Tensor* const training, lowering.known(node, 2, "training_mode"));
  if (training->elements() == 1 && training->values<std::uint8_t>()[0] == 0) return {};
  return unsupported("training has no equivalent");
}

Status lower_reciprocal(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  return give_elementwise(lowering, node, "RealDiv", x.order, {lowering.number(1.0), x.tensors[0]});
}

// Nothing else differs from itself.
Status lower_is_nan(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  return give_elementwise(lowering, node, "NotEqual", x.order, {x.tensors[0], x.tensors[0]});
}

Status lower(Lowering& lowering, const OnnxNode& node) {
  std::string_view op;
  for (const auto& [onnx, tensorflow] : names)
    if (onnx == node.op_type) op = tensorflow;
  if (!lowering.has(op) && node.op_type == "Reciprocal") return lower_reciprocal(lowering, node);
  if (!lowering.has(op) && node.op_type == "IsNaN") return lower_is_nan(lowering, node);
  if (!lowering.has(op)) return unsupported(fmt::format("{} has no {}", lowering.dialect().name, op));
  if (node.op_type == "Dropout") DRIFTSCOPE_CHECK(check_dropout(lowering, node));
  DRIFTSCOPE_TRY(Operands x, read_operand(lowering, node));
  // −(−128) is −128 in eight bits; where the numbers are carried in more. Quantized ones are real.
  const DType type = lowering.dtype(node.outputs[0]);
  if (is_narrow(type) && !is_narrow(lowering.info(x.tensors[0]).dtype) && (op == "Abs" || op == "Neg")) {
    const std::string whole = lowering.elementwise("whole", op, std::move(x.tensors));
    return lowering.give_same(node.outputs[0], wrapped(lowering, whole, type), x.order);
  }
  return give_elementwise(lowering, node, op, x.order, std::move(x.tensors));
}

}  // namespace

void add_to(OperatorTable& table) {
  for (const auto& [onnx, tensorflow] : names) table.add(onnx, lower, Prefers::any);
}

}  // namespace driftscope::tf::operators::unary
