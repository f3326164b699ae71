// Operators on pairs of elements, broadcast as NumPy does, which is TensorFlow's rule as well.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::binary {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 13> names = {{
    {"Add", "AddV2"},
    {"Sub", "Sub"},
    {"Mul", "Mul"},
    {"Equal", "Equal"},
    {"Greater", "Greater"},
    {"GreaterOrEqual", "GreaterEqual"},
    {"Less", "Less"},
    {"LessOrEqual", "LessEqual"},
    {"And", "LogicalAnd"},
    {"Or", "LogicalOr"},
    {"Xor", "NotEqual"},
    {"Div", "RealDiv"},
    {"Mod", "FloorMod"},
}};

Result<Operands> aligned_operands(Lowering& lowering, const OnnxNode& node) {
  if (node.attribute("broadcast_axis") != nullptr)
    return unsupported("broadcasting along an axis, of opset 6 and before, has no equivalent");
  return read_operands(lowering, node);
}

// A slope for each channel is also taken where it does not align, as before opset 7.
Status lower_prelu(Lowering& lowering, const OnnxNode& node) {
  const Shape x = lowering.shape(node.inputs[0]);
  const Shape slope = lowering.shape(node.inputs[1]);
  DRIFTSCOPE_TRY(Operands operands, read_operand(lowering, node));
  const bool per_channel =
      slope.size() == 1 && x.size() > 2 && slope[0] != 1 && slope[0] != x.back() && slope[0] == x[1];
  std::string alpha;
  if (per_channel) {
    Shape aligned(x.size(), 1);
    aligned[place_of_axis(1, operands.order)] = slope[0];
    DRIFTSCOPE_TRY(alpha, lowering.read(node.inputs[1]));
    DRIFTSCOPE_TRY(alpha, lowering.reshape("slope", alpha, aligned));
  } else {
    DRIFTSCOPE_TRY(alpha, lowering.read_broadcast(node.inputs[1], x.size(), operands.order));
  }
  return give_elementwise(lowering, node, "Prelu", operands.order, {operands.tensors[0], alpha});
}

// A comparison with a known integer beyond int32, whose operands are int32, is one with the last number in
// its range: larger than all, or smaller than all. Empty: this node is no such.
Result<std::string_view> beyond_comparison(const Lowering& lowering, const OnnxNode& node) {
  const std::string_view type = node.op_type;
  if (type != "Less" && type != "LessOrEqual" && type != "Greater" && type != "GreaterOrEqual" &&
      type != "Equal")
    return std::string_view();
  for (std::size_t i = 0; i < 2; ++i) {
    DRIFTSCOPE_TRY(const std::optional<Tensor> clamped, clamped_to_int32(lowering, node.inputs[i]));
    if (!clamped) continue;
    if (clamped->elements() != 1 || lowering.constant(node.inputs[1 - i]) != nullptr)
      return std::string_view();
    const bool above = clamped->values<std::int64_t>()[0] > 0;
    const bool less = type.starts_with("Less");
    if (type == "Equal") return std::string_view((i == 0) == above ? "Less" : "Greater");  // never
    // c lies above: x < c and c > x always, x > c and c < x never.
    const bool always = (i == 1) == (above == less);
    if (always) return std::string_view(less ? "LessEqual" : "GreaterEqual");
    return std::string_view(less ? "Less" : "Greater");
  }
  return std::string_view();
}

Status lower(Lowering& lowering, const OnnxNode& node) {
  std::string_view op;
  for (const auto& [onnx, tensorflow] : names)
    if (onnx == node.op_type) op = tensorflow;
  DRIFTSCOPE_TRY(const std::string_view beyond, beyond_comparison(lowering, node));
  if (!beyond.empty()) {
    DRIFTSCOPE_TRY(Operands operands, read_operands(lowering, node, Beyond::clamped));
    return give_elementwise(lowering, node, beyond, operands.order, std::move(operands.tensors));
  }
  DRIFTSCOPE_TRY(Operands operands, aligned_operands(lowering, node));
  const DType type = lowering.dtype(node.outputs[0]);
  if (is_narrow(type) && (op == "AddV2" || op == "Sub" || op == "Mul")) {
    const std::string whole = lowering.elementwise("whole", op, std::move(operands.tensors));
    return lowering.give_same(node.outputs[0], wrapped(lowering, whole, type), operands.order);
  }
  return give_elementwise(lowering, node, op, operands.order, std::move(operands.tensors));
}

// Known numbers that are whole and not negative: these are integers as well.
bool is_count(const Lowering& lowering, ValueId value) {
  const Tensor* const known = lowering.constant(value);
  if (known == nullptr || known->dtype() != DType::float32) return false;
  return std::ranges::all_of(known->values<float>(),
                             [](float x) { return x >= 0.0f && x <= 1e9f && x == std::floor(x); });
}

// The exponent may be of another type. An integer to the power of a fraction is not an integer before it is
// cast.
Status lower_pow(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(Operands operands, aligned_operands(lowering, node));
  const auto cast = [&](std::size_t i, const char* what, DType type) {
    const std::string& tensor = operands.tensors[i];
    operands.tensors[i] =
        lowering.make(what, "Cast", {tensor}, {{"DstT", type}}, {type, lowering.info(tensor).shape, {}});
  };
  const DType base = lowering.info(operands.tensors[0]).dtype;
  const DType exponent = lowering.info(operands.tensors[1]).dtype;
  if (is_integer(base) && is_floating(exponent) && !is_count(lowering, node.inputs[1])) {
    cast(0, "base", exponent);
    const std::string power = lowering.elementwise("power", "Pow", operands.tensors);
    return give_elementwise(lowering, node, "Cast", operands.order, {power}, {{"DstT", base}});
  }
  if (exponent != base) cast(1, "exponent", base);
  return give_elementwise(lowering, node, "Pow", operands.order, std::move(operands.tensors));
}

// 1 where division leaves a remainder and the operands' signs differ, else 0.
std::string lies_beyond(Lowering& lowering, const Inputs& x) {
  const std::string zero = lowering.number(0, DType::int32);
  const auto is_below = [&](const std::string& tensor) {
    return lowering.elementwise("is_below", "Less", {tensor, zero}, DType::boolean);
  };
  const std::string rest = lowering.elementwise("remainder", "FloorMod", x);
  const std::string is_rest = lowering.elementwise("is_rest", "NotEqual", {rest, zero}, DType::boolean);
  const std::string first = is_below(x[0]);
  const std::string second = is_below(x[1]);
  const std::string other = lowering.elementwise("other_sign", "NotEqual", {first, second}, DType::boolean);
  const std::string both = lowering.elementwise("beyond", "LogicalAnd", {is_rest, other}, DType::boolean);
  return lowering.make("correction", "Cast", {both}, {{"SrcT", DType::boolean}, {"DstT", DType::int32}},
                       {DType::int32, lowering.info(both).shape, {}});
}

// Integers are divided towards zero, TensorFlow's towards −∞: one more where something remains and the signs
// differ. Without absolute values: the smallest integer has none.
Status lower_div(Lowering& lowering, const OnnxNode& node) {
  if (!is_integer(lowering.dtype(node.outputs[0]))) return lower(lowering, node);
  DRIFTSCOPE_TRY(const Operands x, aligned_operands(lowering, node));
  const std::string below = lowering.elementwise("floor", "FloorDiv", x.tensors);
  const std::string beyond = lies_beyond(lowering, x.tensors);
  const DType type = lowering.dtype(node.outputs[0]);
  if (!is_narrow(type)) return give_elementwise(lowering, node, "AddV2", x.order, {below, beyond});
  const std::string whole = lowering.elementwise("whole", "AddV2", {below, beyond});
  return lowering.give_same(node.outputs[0], wrapped(lowering, whole, type), x.order);
}

// With fmod the remainder has the sign of the dividend, else that of the divisor.
Status lower_mod(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const bool fmod, flag_attribute(node, "fmod", false));
  if (!fmod) return lower(lowering, node);
  DRIFTSCOPE_TRY(const Operands x, aligned_operands(lowering, node));
  if (is_integer(lowering.dtype(node.outputs[0]))) {
    const std::string rest = lowering.elementwise("rest", "FloorMod", x.tensors);
    const std::string beyond = lies_beyond(lowering, x.tensors);
    const std::string more = lowering.elementwise("divisor", "Mul", {beyond, x.tensors[1]});
    return give_elementwise(lowering, node, "Sub", x.order, {rest, more});
  }
  Inputs sizes;
  for (const std::string& tensor : x.tensors) sizes.push_back(lowering.elementwise("size", "Abs", {tensor}));
  const std::string remainder = lowering.elementwise("remainder", "FloorMod", sizes);
  const std::string sign = lowering.elementwise("sign", "Sign", {x.tensors[0]});
  return give_elementwise(lowering, node, "Mul", x.order, {remainder, sign});
}

}  // namespace

void add_to(OperatorTable& table) {
  for (const auto& [onnx, tensorflow] : names)
    table.add(onnx, onnx == "Div" ? lower_div : onnx == "Mod" ? lower_mod : lower, Prefers::any);
  table.add("Pow", lower_pow, Prefers::any);
  table.add("PRelu", lower_prelu, Prefers::any);
}

}  // namespace driftscope::tf::operators::binary
