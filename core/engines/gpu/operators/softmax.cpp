// Softmax and LogSoftmax along whatever axis it is, channels last where it goes over the channels of images.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"

namespace driftscope::gpu::softmax {

template <bool logarithm>
Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y)) return false;
  const Shape shape = lowering.shape(x);
  if (shape.empty()) return false;
  const bool one_axis = node.opset >= 13;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", one_axis ? -1 : 1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  Lanes lanes = Lanes::along(shape, axis, !one_axis);
  Layout layout = lowering.layout(x);
  if (one_axis && axis == 1 && shape.size() > 2 && layout == channels_last(shape))
    lanes = {.outer = element_count(shape) / shape[1], .size = shape[1], .inner = 1};
  else
    layout = {};
  if (!lowering.lanes_fit(lanes)) return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, layout);
  return lowering.emit_lanes("softmax", {{"LOGARITHM", logarithm ? 1 : 0}}, lanes, {in}, out);
}

void add_to(GpuOperatorTable& table) {
  table.add("Softmax", lower<false>);
  table.add("LogSoftmax", lower<true>);
}

}  // namespace driftscope::gpu::softmax
