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

}  // namespace

void add_to(OperatorTable& table) {
  for (const auto& [onnx, tensorflow] : names) table.add(onnx, lower, Prefers::any);
}

}  // namespace driftscope::tf::operators::unary
