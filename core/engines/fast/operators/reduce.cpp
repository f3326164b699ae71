// ReduceMean, ReduceSum and GlobalAveragePool: XNNPACK's reduction, over whichever axes these are in
// memory.
#include "core/engines/fast/lowering.hpp"
#include "core/lowering/reduced_axes.hpp"

namespace driftscope::fast::reduce {

Result<bool> place(Lowering& lowering, const Node& node, xnn_reduce_operator kind,
                   const std::optional<ReducedAxes>& given) {
  if (!given) return false;
  const ValueId x = node.inputs[0];
  const Shape x_shape = lowering.shape(x);
  const std::vector<std::size_t> axes = axes_in_memory(x_shape, given->read);
  std::vector<std::size_t> dims;
  std::vector<std::int64_t> reduced_axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto size = static_cast<std::size_t>(x_shape[axes[i]]);
    const bool gone = given->reduced[axes[i]];
    // Neighbouring axes of one kind are one axis, so that six are enough.
    if (i > 0 && gone == given->reduced[axes[i - 1]]) {
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
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, given->read));
  const BufferId out = lowering.write(node.outputs[0], given->made);
  // The workspace is for sums of another type than the result's: float32 must have none.
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return xnn_setup_reduce_nd(it, nullptr, memory.address(in), memory.address(out));
  });
  return true;
}

Result<bool> lower_global_average(Lowering& lowering, const Node& node) {
  return place(lowering, node, xnn_reduce_mean, pooled_axes(lowering, node));
}

// `axes_input`: the first opset in which the axes are an input.
template <xnn_reduce_operator kind, std::int64_t axes_input>
Result<bool> lower(Lowering& lowering, const Node& node) {
  return place(lowering, node, kind, reduced_axes(lowering, node, axes_input));
}

void add_to(FastOperatorTable& table) {
  table.add("GlobalAveragePool", lower_global_average);
  table.add("ReduceMean", lower<xnn_reduce_mean, 18>);
  table.add("ReduceSum", lower<xnn_reduce_sum, 13>);
}

}  // namespace driftscope::fast::reduce
