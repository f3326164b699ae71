// MaxPool, AveragePool and GlobalMaxPool in one and two dimensions, channels last.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/engines/gpu/conv_parts.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/pool.hpp"

namespace driftscope::gpu::pool {

Result<bool> place(GpuLowering& lowering, const Node& node, const WindowAxis& height, const WindowAxis& width,
                   bool maximum, bool counts_padding) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const Shape x_shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(y);
  const bool vectors = x_shape[1] % 4 == 0;
  const std::int64_t taps = height.kernel * (width.kernel + 1);
  if (vectors ? !lowering.may_loop_per_texel(taps) : !lowering.may_loop(taps)) return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(x_shape)));
  const BufferId out = lowering.write(y, channels_last(y_shape));
  ShaderValues values = window_values({height, width});
  values["CHANNELS"] = x_shape[1] / (vectors ? 4 : 1);
  values["PAD_END_Y"] = height.pad_end;
  values["PAD_END_X"] = width.pad_end;
  values["FIRST"] = std::string(maximum ? "-3.4028234663852886e38" : "0.0");
  values["MAXIMUM"] = maximum ? 1 : 0;
  values["COUNTS_PADDING"] = counts_padding ? 1 : 0;
  const std::int64_t count = element_count(y_shape);
  return vectors ? lowering.emit_texels("pool", std::move(values), {in}, out, count)
                 : lowering.emit_elements("pool", std::move(values), {in}, out, count);
}

Result<bool> lower(GpuLowering& lowering, const Node& node, bool maximum, bool counts_padding) {
  // The largest of integers is one of them.
  if (maximum ? !lowering.is_number(node.inputs[0]) || !lowering.can_be_number(node.outputs[0])
              : !lowering.is_float(node.inputs[0]) || !lowering.is_float(node.outputs[0]))
    return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return false;  // Indices
  const Shape shape = lowering.shape(node.inputs[0]);
  if (shape.size() < 3 || shape.size() > 4) return false;
  const auto plan = plan_pool(node, shape);
  if (!plan.ok()) return false;
  WindowAxis height{.input = 1, .kernel = 1, .output = 1};
  if (shape.size() == 4) height = plan->axes.front();
  const WindowAxis& width = plan->axes.back();
  // A window without data would be divided by nothing.
  for (const WindowAxis& axis : {height, width})
    for (const std::int64_t o : {std::int64_t{0}, axis.output - 1})
      if (axis.tap_begin(o) >= axis.tap_end(o)) return false;
  return place(lowering, node, height, width, maximum, counts_padding);
}

Result<bool> lower_max(GpuLowering& lowering, const Node& node) { return lower(lowering, node, true, false); }

Result<bool> lower_average(GpuLowering& lowering, const Node& node) {
  const auto include_pad = flag_attribute(node, "count_include_pad", false);
  return include_pad.ok() ? lower(lowering, node, false, *include_pad) : Result<bool>(false);
}

Result<bool> lower_global_max(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  const Shape shape = lowering.shape(x);
  if (shape.size() < 3) return false;
  const std::int64_t spatial = blocks_of(shape, channels_last(shape)).spatial;
  return place(lowering, node, {.input = 1, .kernel = 1, .output = 1},
               {.input = spatial, .kernel = spatial, .output = 1}, true, false);
}

void add_to(GpuOperatorTable& table) {
  table.add("MaxPool", lower_max);
  table.add("AveragePool", lower_average);
  table.add("GlobalMaxPool", lower_global_max);
}

}  // namespace driftscope::gpu::pool
