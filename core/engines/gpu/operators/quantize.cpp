// QuantizeLinear and DequantizeLinear with constant scales and zero points, DynamicQuantizeLinear, and casts
// of integers that the device has made to float32. Integers of 8 bits.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/integers.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/lowering/view.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::gpu::quantize {

/// How a value is quantized, and how it is read so that its axis lies where `spread` says.
struct Steps {
  std::vector<float> scales;
  std::vector<float> zeros;
  Layout layout;
  Spread spread;
};

// Whether it lies with its channels last, and they are the axis.
bool is_of_channels(const Shape& shape, Layout layout, const ScaleLayout& where) {
  return shape.size() > 2 && layout == channels_last(shape) && where.outer == shape[0] &&
         where.size == shape[1];
}

std::optional<Steps> steps_of(const GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const Tensor* const scale = lowering.constant(node.inputs[1]);
  if (scale == nullptr || scale->dtype() != DType::float32) return std::nullopt;
  const Shape shape = lowering.shape(x);
  const auto where = scale_layout(node, shape, scale->shape());
  if (!where.ok() || where->block != 0) return std::nullopt;
  const std::int64_t each = where->per_tensor ? 1 : where->size;
  auto scales = constant_scales(lowering, node, 1, each);
  auto zeros = constant_numbers(lowering, node, 2, each);
  if (!scales || !zeros) return std::nullopt;
  Steps steps{*std::move(scales), *std::move(zeros), lowering.layout(x), {.outer = element_count(shape)}};
  if (steps.scales.size() == 1 && steps.zeros.size() == 1) return steps;
  if (is_of_channels(shape, steps.layout, *where)) {
    steps.spread = {element_count(shape) / shape[1], shape[1], 1};
  } else {
    steps.layout = {};
    steps.spread = {where->outer, where->size, where->inner};
  }
  return steps;
}

// `expression` of x0, the scale x1 and, where there is one, the zero point x2.
Result<bool> place(GpuLowering& lowering, const Node& node, const Steps& steps, std::string expression) {
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(node.inputs[0], steps.layout));
  std::vector<Numbers> numbers(1);
  DRIFTSCOPE_TRY(numbers[0], keep_numbers(lowering, steps.scales));
  if (steps.zeros != std::vector{0.0f}) {
    DRIFTSCOPE_TRY(const Numbers zeros, keep_numbers(lowering, steps.zeros));
    numbers.push_back(zeros);
  }
  const BufferId out = lowering.write(node.outputs[0], steps.layout);
  return emit_with_numbers(lowering, std::move(expression), {in}, numbers, steps.spread, out);
}

Result<bool> lower_quantize(GpuLowering& lowering, const Node& node) {
  if (!lowering.is_float(node.inputs[0]) || !lowering.is_byte(node.outputs[0])) return false;
  const auto steps = steps_of(lowering, node);
  if (!steps) return false;
  const bool moved = steps->zeros != std::vector{0.0f};
  return place(lowering, node, *steps,
               step_text("x0 / x1", moved ? "x2" : "", lowering.value(node.outputs[0]).dtype));
}

Result<bool> lower_dequantize(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if ((!lowering.is_byte(x) && !lowering.is_number(x)) || lowering.is_float(x) ||
      !lowering.is_float(node.outputs[0]))
    return false;
  const auto steps = steps_of(lowering, node);
  if (!steps) return false;
  return place(lowering, node, *steps, steps->zeros != std::vector{0.0f} ? "(x0 - x2) * x1" : "x0 * x1");
}

// Outputs that nobody reads have memory as well.
BufferId place_of_output(GpuLowering& lowering, const Node& node, std::size_t i, Layout layout) {
  if (i < node.outputs.size() && node.outputs[i] != no_value) return lowering.write(node.outputs[i], layout);
  return lowering.scratch_value({1}, {});
}

Result<bool> lower_dynamic(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || node.outputs.empty() || node.outputs[0] == no_value) return false;
  const Layout layout = lowering.layout(x);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const DynamicSteps into{place_of_output(lowering, node, 0, layout), place_of_output(lowering, node, 1, {}),
                          place_of_output(lowering, node, 2, {})};
  return emit_dynamic_steps(lowering, in, element_count(lowering.shape(x)), into);
}

// As numbers they are there already.
Result<bool> lower_cast(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (lowering.is_float(x) || !lowering.is_number(x) || !lowering.is_float(node.outputs[0])) return false;
  return lower_view(lowering, node, can_hold);
}

void add_to(GpuOperatorTable& table) {
  table.add("QuantizeLinear", lower_quantize);
  table.add("DequantizeLinear", lower_dequantize);
  table.add("DynamicQuantizeLinear", lower_dynamic);
  table.add("Cast", lower_cast);
}

}  // namespace driftscope::gpu::quantize
