// DynamicQuantizeLinear and MatMulInteger by float operators: integers up to 2²⁴ are exact in float32.
#include <fmt/format.h>

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::integer_products {
namespace {

constexpr std::int64_t largest_product = 255 * 255;
constexpr std::int64_t exact_up_to = std::int64_t{1} << 24;

Result<std::string> extreme(Lowering& lowering, const std::string& x, std::string_view op) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < lowering.info(x).shape.size(); ++i)
    axes.push_back(static_cast<std::int64_t>(i));
  DRIFTSCOPE_TRY(const std::string all, lowering.ints(axes, "axes"));
  return lowering.make(op, op, {x, all}, {{"keep_dims", false}}, {DType::float32, {}, {}});
}

// As core/ops/dynamic_quantize_linear.cpp: the range contains 0, and the scale of zeros alone is 1.
Status lower_dynamic(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0]));
  const std::string zero = lowering.number(0.0), one = lowering.number(1.0), levels = lowering.number(255.0);
  DRIFTSCOPE_TRY(const std::string smallest, extreme(lowering, x, "Min"));
  DRIFTSCOPE_TRY(const std::string largest, extreme(lowering, x, "Max"));
  const std::string low = lowering.elementwise("low", "Minimum", {smallest, zero});
  const std::string high = lowering.elementwise("high", "Maximum", {largest, zero});
  const std::string range = lowering.elementwise("range", "Sub", {high, low});
  const std::string step = lowering.elementwise("step", "RealDiv", {range, levels});
  const std::string is_zero = lowering.elementwise("is_zero", "Equal", {step, zero}, DType::boolean);
  const std::string scale = lowering.elementwise("scale", "SelectV2", {is_zero, one, step}, DType::float32);
  const auto clipped = [&](std::string_view suffix, const std::string& value) {
    return lowering.elementwise(suffix, "Minimum",
                                {lowering.elementwise("at_least", "Maximum", {value, zero}), levels});
  };
  const std::string below = lowering.elementwise("below", "Sub", {zero, low});
  const std::string place = clipped("place", lowering.elementwise("steps_below", "RealDiv", {below, scale}));
  const std::string point = lowering.elementwise("point", "Round", {place});
  const std::string steps =
      lowering.elementwise("rounded", "Round", {lowering.elementwise("steps", "RealDiv", {x, scale})});
  const std::string value = clipped("value", lowering.elementwise("shifted", "AddV2", {steps, point}));
  const Attributes to_integer = {{"SrcT", DType::float32},
                                 {"DstT", lowering.dialect().quantized ? DType::uint8 : DType::int32}};
  DRIFTSCOPE_CHECK(lowering.give(node.outputs[0], "Cast", {value}, to_integer));
  if (Lowering::has_output(node, 1)) DRIFTSCOPE_CHECK(lowering.give_same(node.outputs[1], scale));
  if (Lowering::has_output(node, 2))
    DRIFTSCOPE_CHECK(lowering.give(node.outputs[2], "Cast", {point}, to_integer));
  return {};
}

// A factor without its zero point, as floats.
Result<std::string> factor(Lowering& lowering, const OnnxNode& node, std::size_t input,
                           std::size_t zero_point) {
  const auto as_float = [&](std::size_t i, std::string_view suffix) -> Result<std::string> {
    DRIFTSCOPE_TRY(const std::string given, lowering.read(node.inputs[i]));
    const TensorInfo info = lowering.info(given);
    return lowering.make(suffix, "Cast", {given}, {{"SrcT", info.dtype}, {"DstT", DType::float32}},
                         {DType::float32, info.shape, {}});
  };
  DRIFTSCOPE_TRY(const std::string value, as_float(input, "factor"));
  if (!Lowering::has_input(node, zero_point)) return value;
  if (input == 0 && element_count(lowering.shape(node.inputs[zero_point])) != 1)
    return unsupported("a zero point for each row has no equivalent");
  DRIFTSCOPE_TRY(const std::string zero, as_float(zero_point, "zero_point"));
  return lowering.elementwise("centred", "Sub", {value, zero});
}

Status lower_matmul(Lowering& lowering, const OnnxNode& node) {
  const Shape a = lowering.shape(node.inputs[0]);
  if (a.size() != 2 || lowering.rank(node.inputs[1]) != 2)
    return unsupported("only products of two matrices of integers have an equivalent");
  if (a[1] > exact_up_to / largest_product)
    return unsupported(
        fmt::format("sums of {} products of 8-bit integers have no equivalent in float32, which holds "
                    "those of {} exactly",
                    a[1], exact_up_to / largest_product));
  DRIFTSCOPE_TRY(const std::string left, factor(lowering, node, 0, 2));
  DRIFTSCOPE_TRY(const std::string right, factor(lowering, node, 1, 3));
  const std::string sums =
      lowering.make("sums", "MatMul", {left, right}, {{"transpose_a", false}, {"transpose_b", false}},
                    {DType::float32, lowering.shape(node.outputs[0]), {}});
  return lowering.give(node.outputs[0], "Cast", {sums}, {{"SrcT", DType::float32}, {"DstT", DType::int32}});
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("DynamicQuantizeLinear", lower_dynamic);
  table.add("MatMulInteger", lower_matmul);
}

}  // namespace driftscope::tf::operators::integer_products
