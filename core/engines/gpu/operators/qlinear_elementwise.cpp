// com.microsoft QLinearAdd and QLinearMul of two values of one shape, QLinearSigmoid, QLinearLeakyRelu and
// QLinearGlobalAveragePool, with constant scales and zero points.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/engines/gpu/integers.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::gpu::qlinear_elementwise {

/// A scale and the zero point behind it.
struct Scaled {
  float scale = 1.0f;
  float zero = 0.0f;
};

std::optional<Scaled> scaled_at(const GpuLowering& lowering, const Node& node, std::size_t scale) {
  const auto scales = constant_scales(lowering, node, scale, 1);
  const auto zeros = constant_numbers(lowering, node, scale + 1, 1);
  if (!scales || !zeros) return std::nullopt;
  return Scaled{(*scales)[0], (*zeros)[0]};
}

// `text` of x0, x1, … and the constants behind them.
Result<bool> place(GpuLowering& lowering, std::string text, std::vector<BufferId> values,
                   const std::vector<float>& constants, std::int64_t count, BufferId out) {
  std::vector<Numbers> numbers;
  for (const float constant : constants) {
    DRIFTSCOPE_TRY(const Numbers kept, keep_numbers(lowering, {constant}));
    numbers.push_back(kept);
  }
  return emit_with_numbers(lowering, std::move(text), std::move(values), numbers, {.outer = count}, out);
}

template <bool multiplies>
Result<bool> lower_binary(GpuLowering& lowering, const Node& node) {
  if (node.inputs.size() < 7) return false;
  const ValueId a = node.inputs[0];
  const ValueId b = node.inputs[3];
  const ValueId y = node.outputs[0];
  if (!lowering.is_byte(a) || !lowering.is_byte(b) || !lowering.is_byte(y) ||
      lowering.shape(a) != lowering.shape(b) || lowering.max_inputs() < 6)
    return false;
  const auto of_a = scaled_at(lowering, node, 1);
  const auto of_b = scaled_at(lowering, node, 4);
  const auto of_y = scaled_at(lowering, node, 6);
  if (!of_a || !of_b || !of_y) return false;
  const Layout layout = lowering.layout(a);
  DRIFTSCOPE_TRY(const BufferId x0, lowering.read(a, layout));
  DRIFTSCOPE_TRY(const BufferId x1, lowering.read(b, layout));
  const std::int64_t count = element_count(lowering.shape(y));
  const DType dtype = lowering.value(y).dtype;
  const BufferId out = lowering.write(y, layout);
  if (multiplies)
    return place(lowering, step_text("(x0 - x2) * (x1 - x3) * x4", "x5", dtype), {x0, x1},
                 {of_a->zero, of_b->zero, of_a->scale * of_b->scale / of_y->scale, of_y->zero}, count, out);
  const float ratio_a = of_a->scale / of_y->scale;
  const float ratio_b = of_b->scale / of_y->scale;
  return place(lowering, step_text("(x0 * x2 + x1 * x3) - x4", "x5", dtype), {x0, x1},
               {ratio_a, ratio_b, of_a->zero * ratio_a + of_b->zero * ratio_b, of_y->zero}, count, out);
}

// `function` of {}, the number that an element of X stands for.
Result<bool> lower_function(GpuLowering& lowering, const Node& node, const std::string& function) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (node.inputs.size() < 4 || !lowering.is_byte(x) || !lowering.is_byte(y)) return false;
  const auto of_x = scaled_at(lowering, node, 1);
  const auto of_y = scaled_at(lowering, node, 3);
  if (!of_x || !of_y) return false;
  const Layout layout = lowering.layout(x);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, layout);
  return place(lowering, step_text(fmt::format("({}) / x3", function), "x4", lowering.value(y).dtype), {in},
               {of_x->zero, of_x->scale, of_y->scale, of_y->zero}, element_count(lowering.shape(y)), out);
}

Result<bool> lower_sigmoid(GpuLowering& lowering, const Node& node) {
  return lower_function(lowering, node, "sigmoid((x0 - x1) * x2)");
}

Result<bool> lower_leaky_relu(GpuLowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 0.01f));
  return lower_function(
      lowering, node,
      fmt::format("select({} * ((x0 - x1) * x2), (x0 - x1) * x2, is_at_least(x0, x1))", float_text(alpha)));
}

// The sums of integers are exact; their mean is rounded to a step.
Result<bool> lower_global_average(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  DRIFTSCOPE_TRY(const std::int64_t last, int_attribute(node, "channels_last", 0));
  if (node.inputs.size() < 4 || last != 0 || !lowering.is_byte(x) || !lowering.is_byte(y)) return false;
  const auto of_x = scaled_at(lowering, node, 1);
  const auto of_y = scaled_at(lowering, node, 3);
  const Shape shape = lowering.shape(x);
  if (!of_x || !of_y || shape.size() < 3) return false;
  const Blocks blocks = blocks_of(shape, channels_last(shape));
  constexpr std::int64_t most = 16'777'216 / 255;
  if (blocks.spatial > most) return false;
  constexpr Reduction sum = {"0.0", "part + v", Reduction::Join::sum, "whole"};
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(shape)));
  const Shape y_shape = lowering.shape(y);
  const BufferId sums = lowering.scratch_value(y_shape, channels_last(y_shape));
  DRIFTSCOPE_TRY(const bool reduced,
                 lowering.emit_reduction(sum, {blocks.batch, blocks.spatial, blocks.channels}, in, sums));
  const auto size = static_cast<float>(blocks.spatial);
  DRIFTSCOPE_TRY(const bool done,
                 place(lowering, step_text("(x0 - x1) * x2", "x3", lowering.value(y).dtype), {sums},
                       {of_x->zero * size, of_x->scale / (size * of_y->scale), of_y->zero},
                       element_count(y_shape), lowering.write(y, channels_last(y_shape))));
  return reduced && done;
}

void add_to(GpuOperatorTable& table) {
  table.add("com.microsoft.QLinearAdd", lower_binary<false>);
  table.add("com.microsoft.QLinearMul", lower_binary<true>);
  table.add("com.microsoft.QLinearSigmoid", lower_sigmoid);
  table.add("com.microsoft.QLinearLeakyRelu", lower_leaky_relu);
  table.add("com.microsoft.QLinearGlobalAveragePool", lower_global_average);
}

}  // namespace driftscope::gpu::qlinear_elementwise
