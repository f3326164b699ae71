// Softmax along the axis that is innermost in memory; for any other axis the values are brought into ONNX's
// order if it is the last one there.
#include "core/engines/fast/lowering.hpp"
#include "core/ops/shared/lanes.hpp"

namespace driftscope::fast::softmax {

Result<bool> lower(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y)) return false;
  const Shape shape = lowering.shape(x);
  if (shape.empty()) return false;
  const bool one_axis = node.opset >= 13;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", one_axis ? -1 : 1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  const Lanes lanes = Lanes::along(shape, axis, !one_axis);
  Layout layout = lowering.layout(x);
  const bool over_channels = one_axis && axis == 1 && shape.size() > 2 && layout == channels_last(shape);
  if (!over_channels) {
    layout = {};
    if (lanes.inner != 1) return false;
  }
  xnn_operator_t raw = nullptr;
  if (xnn_create_softmax_nc_f32(0, &raw) != xnn_status_success) return false;
  XnnOperator op(raw);
  const pthreadpool_t pool = lowering.pool_for(4 * element_count(shape));
  const auto size = static_cast<std::size_t>(lanes.size);
  if (xnn_reshape_softmax_nc_f32(raw, size, size, size, static_cast<std::size_t>(lanes.count()), pool) !=
      xnn_status_success)
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, layout);
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return xnn_setup_softmax_nc_f32(it, memory.at<const float>(in), memory.at<float>(out));
  });
  return true;
}

void add_to(FastOperatorTable& table) { table.add("Softmax", lower); }

}  // namespace driftscope::fast::softmax
