// Operators on one, two or more values, element by element.
#include <fmt/format.h>

#include <array>
#include <numeric>

#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::elementwise {
namespace {

using namespace to_onnx_parts;

struct Same {
  std::string_view tf;
  std::string_view onnx;
};
constexpr auto unary = std::to_array<Same>({
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
    {"Elu", "Elu"},
    {"Erf", "Erf"},
    {"Exp", "Exp"},
    {"Floor", "Floor"},
    {"Identity", "Identity"},
    {"IsInf", "IsInf"},
    {"IsNan", "IsNaN"},
    {"Log", "Log"},
    {"LogicalNot", "Not"},
    {"Neg", "Neg"},
    {"Relu", "Relu"},
    {"Round", "Round"},
    {"Sigmoid", "Sigmoid"},
    {"Sign", "Sign"},
    {"Sin", "Sin"},
    {"Sinh", "Sinh"},
    {"Selu", "Selu"},
    {"Softplus", "Softplus"},
    {"Softsign", "Softsign"},
    {"Sqrt", "Sqrt"},
    {"Tan", "Tan"},
    {"Tanh", "Tanh"},
    {"Reciprocal", "Reciprocal"},
    {"HardSwish", "HardSwish"},
    {"StopGradient", "Identity"},
    {"QuantizeV2", "Identity"},
    {"ReadVariableOp", "Identity"},
});
constexpr auto binary = std::to_array<Same>({
    {"Add", "Add"},
    {"AddV2", "Add"},
    {"AddN", "Sum"},
    {"Sub", "Sub"},
    {"Mul", "Mul"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"Pow", "Pow"},
    {"Equal", "Equal"},
    {"Less", "Less"},
    {"LessEqual", "LessOrEqual"},
    {"Greater", "Greater"},
    {"GreaterEqual", "GreaterOrEqual"},
    {"LogicalAnd", "And"},
    {"LogicalOr", "Or"},
    {"BitwiseAnd", "BitwiseAnd"},
});

std::string_view onnx_name(std::string_view op) {
  for (const Same& one : unary)
    if (one.tf == op) return one.onnx;
  for (const Same& one : binary)
    if (one.tf == op) return one.onnx;
  return op;
}

Result<Names> inputs_of(const Maker& maker, const Node& node) {
  Names inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    DRIFTSCOPE_TRY(std::string one, maker.input(node, i));
    inputs.push_back(std::move(one));
  }
  return inputs;
}

Status same(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Names inputs, inputs_of(maker, node));
  if (inputs.empty()) return bad_input("it has no inputs");
  maker.give(onnx_name(node.op), std::move(inputs));
  return {};
}

Result<std::string> number(Maker& maker, const Node& node, double value) {
  return maker.scalar(value, maker.dtype(node.inputs.at(0)));
}

Status squares(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Names x, inputs_of(maker, node));
  if (x.empty()) return bad_input("it has no inputs");
  std::string one = x[0];
  if (x.size() > 1) one = maker.make("difference", "Sub", {x[0], x[1]});
  maker.give("Mul", {one, one});
  return {};
}

Status rsqrt(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  maker.give("Reciprocal", {maker.make("root", "Sqrt", {x})});
  return {};
}

Status not_equal(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Names x, inputs_of(maker, node));
  maker.give("Not", {maker.make("equal", "Equal", std::move(x))});
  return {};
}

Status log1p(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string one, number(maker, node, 1.0));
  maker.give("Log", {maker.make("plus_one", "Add", {x, one})});
  return {};
}

Status expm1(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string one, number(maker, node, 1.0));
  maker.give("Sub", {maker.make("exp", "Exp", {x}), one});
  return {};
}

/// Where a remainder with the dividend's sign is not 0 and the divisor's sign is the other.
std::string differs_in_sign(Maker& maker, const std::string& rest, const std::string& divisor,
                            const std::string& zero) {
  const std::string is_rest = maker.make("is_rest", "Not", {maker.make("is_whole", "Equal", {rest, zero})});
  const std::string signs = maker.make(
      "other_sign", "Xor",
      {maker.make("rest_below", "Less", {rest, zero}), maker.make("below", "Less", {divisor, zero})});
  return maker.make("lies_beyond", "And", {is_rest, signs});
}

/// ONNX divides integers towards zero: what to subtract from what for the quotient towards −∞.
Names floor_parts(Maker& maker, const Names& x, const std::string& zero, const std::string& one) {
  const std::string rest = maker.make("rest", "Mod", {x[0], x[1]}, {of("fmod", std::int64_t{1})});
  const std::string beyond = differs_in_sign(maker, rest, x[1], zero);
  const std::string toward_zero = maker.make("toward_zero", "Div", x);
  return {toward_zero, maker.make("correction", "Where", {beyond, one, zero})};
}

Status floor_div(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Names x, inputs_of(maker, node));
  if (x.size() != 2) return bad_input("it needs two inputs");
  const DType type = maker.dtype(node.inputs[0]);
  if (is_floating(type)) {
    maker.give("Floor", {maker.make("quotient", "Div", std::move(x))});
    return {};
  }
  DRIFTSCOPE_TRY(const std::string zero, maker.scalar(0.0, type, "zero"));
  DRIFTSCOPE_TRY(const std::string one, maker.scalar(1.0, type, "one"));
  maker.give("Sub", floor_parts(maker, x, zero, one));
  return {};
}

/// 0 wherever the divisor is 0, whatever the dividend. Integers are divided towards −∞, and never by 0.
Status div_no_nan(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const Names x, inputs_of(maker, node));
  if (x.size() != 2) return bad_input("it needs two inputs");
  const DType type = maker.dtype(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::string zero, maker.scalar(0.0, type, "zero"));
  const std::string by_zero = maker.make("by_zero", "Equal", {x[1], zero});
  std::string quotient;
  if (is_floating(type)) {
    quotient = maker.make("quotient", "Div", x);
  } else {
    DRIFTSCOPE_TRY(const std::string one, maker.scalar(1.0, type, "one"));
    const std::string divisor = maker.make("divisor", "Where", {by_zero, one, x[1]});
    quotient = maker.make("quotient", "Sub", floor_parts(maker, {x[0], divisor}, zero, one));
  }
  maker.give("Where", {by_zero, zero, quotient});
  return {};
}

/// With the sign of the divisor, which ONNX has for integers alone.
Status floor_mod(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Names x, inputs_of(maker, node));
  if (x.size() != 2) return bad_input("it needs two inputs");
  const DType type = maker.dtype(node.inputs[0]);
  if (!is_floating(type)) {
    maker.give("Mod", std::move(x));
    return {};
  }
  DRIFTSCOPE_TRY(const std::string zero, maker.scalar(0.0, type, "zero"));
  const std::string rest = maker.make("rest", "Mod", {x[0], x[1]}, {of("fmod", std::int64_t{1})});
  const std::string beyond = differs_in_sign(maker, rest, x[1], zero);
  maker.give("Where", {beyond, maker.make("from_below", "Add", {rest, x[1]}), rest});
  return {};
}

/// TensorFlow.js divides integers towards −∞.
Status real_div(Maker& maker, const Node& node) {
  if (!node.inputs.empty() && !is_floating(maker.dtype(node.inputs[0])) && maker.info(node.name) == nullptr)
    return floor_div(maker, node);
  DRIFTSCOPE_TRY(Names inputs, inputs_of(maker, node));
  maker.give("Div", std::move(inputs));
  return {};
}

/// The bias is added along the channels, which are the last axis unless data_format says otherwise.
Status bias_add(Maker& maker, const Node& node) {
  if (attribute<std::string>(node, "data_format", "NHWC").starts_with("NC"))
    return unsupported("BiasAdd with data_format NCHW is not supported");
  DRIFTSCOPE_TRY(Names inputs, inputs_of(maker, node));
  maker.give("Add", std::move(inputs));
  return {};
}

Status select(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Names x, inputs_of(maker, node));
  if (x.size() != 3) return bad_input("it needs three inputs");
  // A .tflite file's condition per row; TensorFlow.js broadcasts.
  const auto after = attribute<std::int64_t>(node, "condition_axes_after", 0);
  if (after < 0 || after > std::int64_t{max_rank})
    return bad_input(fmt::format("a condition with {} axes behind it", after));
  Numbers axes(static_cast<std::size_t>(after));
  std::iota(axes.begin(), axes.end(), 1);
  if (!axes.empty()) x[0] = maker.make("condition", "Unsqueeze", {x[0], maker.integers(axes, "axes")});
  maker.give("Where", std::move(x));
  return {};
}

Status clip(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Names x, inputs_of(maker, node));
  if (x.size() != 3) return bad_input("it needs three inputs");
  maker.give("Clip", std::move(x));
  return {};
}

/// Of a quantized tensor it reads the integers, not the real values, and produces integers.
Status cast(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DType to = attribute<DType>(node, "DstT", DType::undefined);
  if (to == DType::undefined) to = maker.dtype(node.name, DType::undefined);
  if (to == DType::undefined) return bad_input("the target type is missing");
  maker.give("Cast", {x}, {of("to", static_cast<std::int64_t>(to))});
  return {};
}

/// Quantized values are real here already; float16 weights become float32.
Status dequantize(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  if (x == node.inputs[0])
    maker.give("Cast", {x}, {of("to", static_cast<std::int64_t>(DType::float32))});
  else
    maker.give("Identity", {x});
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  for (const Same& one : unary) table.add(one.tf, same);
  for (const Same& one : binary) table.add(one.tf, same);
  table.add("Div", real_div);
  table.add("RealDiv", real_div);
  table.add("DivNoNan", div_no_nan);
  table.add("Square", squares);
  table.add("SquaredDifference", squares);
  table.add("Rsqrt", rsqrt);
  table.add("NotEqual", not_equal);
  table.add("Log1p", log1p);
  table.add("Expm1", expm1);
  table.add("FloorDiv", floor_div);
  table.add("FloorMod", floor_mod);
  table.add("BiasAdd", bias_add);
  table.add("Select", select);
  table.add("SelectV2", select);
  table.add("ClipByValue", clip);
  table.add("Cast", cast, true);
  table.add("Dequantize", dequantize);
}

}  // namespace driftscope::tf::to_onnx_operators::elementwise
