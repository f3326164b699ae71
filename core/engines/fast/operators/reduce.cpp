// ReduceMean, ReduceSum and GlobalAveragePool: XNNPACK's reduction, over whichever axes these are in
// memory.
#include <algorithm>

#include "core/engines/fast/lowering.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::fast::reduce {

Result<bool> place(Lowering& lowering, const Node& node, xnn_reduce_operator kind,
                   const std::vector<bool>& reduced) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const Shape x_shape = lowering.shape(x);
  if (x_shape.empty()) return false;
  const Shape y_shape = lowering.shape(y);
  Layout layout = lowering.layout(x);
  // With the axes gone, what remains must be in ONNX's order again, unless they stay as ones.
  const bool keeps = x_shape.size() == y_shape.size();
  const bool grouped = x_shape.size() < 3 || layout != channels_last(x_shape);
  const bool one_axis_left = std::count(reduced.begin(), reduced.end(), false) <= 2 && !reduced[0];
  if (grouped || (!keeps && !one_axis_left)) layout = {};
  const std::vector<std::size_t> axes = axes_in_memory(x_shape, layout);
  std::vector<std::size_t> dims;
  std::vector<std::int64_t> reduced_axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto size = static_cast<std::size_t>(x_shape[axes[i]]);
    const bool gone = reduced[axes[i]];
    // Neighbouring axes of one kind are one axis, so that six are enough.
    if (i > 0 && gone == reduced[axes[i - 1]]) {
      dims.back() *= size;
      continue;
    }
    if (gone) reduced_axes.push_back(static_cast<std::int64_t>(dims.size()));
    dims.push_back(size);
  }
  if (dims.size() > XNN_MAX_TENSOR_DIMS || reduced_axes.empty()) return false;
  xnn_operator_t raw = nullptr;
  if (xnn_create_reduce_nd(kind, xnn_datatype_fp32, nullptr, nullptr, 0, &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const pthreadpool_t pool = lowering.pool_for(element_count(x_shape));
  std::size_t workspace_bytes = 0;
  std::size_t alignment = 0;
  if (xnn_reshape_reduce_nd(raw, reduced_axes.size(), reduced_axes.data(), dims.size(), dims.data(),
                            &workspace_bytes, &alignment, pool) != xnn_status_success)
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const Layout made = keeps && !layout.plain() && y_shape.size() > 2 ? channels_last(y_shape) : Layout{};
  const BufferId out = lowering.write(y, made);
  // The workspace is for sums of another type than the result's: float32 must have none.
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return xnn_setup_reduce_nd(it, nullptr, memory.address(in), memory.address(out));
  });
  return true;
}

Result<bool> lower_global_average(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  std::vector<bool> reduced(lowering.shape(x).size(), true);
  if (reduced.size() < 3) return false;
  reduced[0] = reduced[1] = false;
  return place(lowering, node, xnn_reduce_mean, reduced);
}

// `axes_input`: the first opset in which the axes are an input.
template <xnn_reduce_operator kind, std::int64_t axes_input>
Result<bool> lower(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  const bool given = lowering.has_input(node, 1);
  const Tensor* input = given ? lowering.constant(node.inputs[1]) : nullptr;
  const std::size_t rank = lowering.shape(x).size();
  const auto axes = read_axes(node, input, given, node.opset >= axes_input, rank);
  const auto nothing = flag_attribute(node, "noop_with_empty_axes", false);
  if (!axes.ok() || !*axes || !nothing.ok() || (*nothing && (*axes)->empty())) return false;
  std::vector<bool> reduced(rank, (*axes)->empty());
  for (const std::size_t axis : **axes) reduced[axis] = true;
  return place(lowering, node, kind, reduced);
}

void add_to(FastOperatorTable& table) {
  table.add("GlobalAveragePool", lower_global_average);
  table.add("ReduceMean", lower<xnn_reduce_mean, 18>);
  table.add("ReduceSum", lower<xnn_reduce_sum, 13>);
}

}  // namespace driftscope::fast::reduce
