// Reductions over axes that lie together in memory, and GlobalAveragePool.
#include <algorithm>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::gpu::reduce {

using Join = Reduction::Join;
constexpr Reduction sum = {"0.0", "part + v", Join::sum, "whole"};
constexpr Reduction mean = {"0.0", "part + v", Join::sum, "whole / {}.0"};
constexpr Reduction largest = {"-3.4028234663852886e38", "max(part, v)", Join::largest, "whole"};
constexpr Reduction smallest = {"-3.4028234663852886e38", "max(part, -v)", Join::largest, "-whole"};
constexpr Reduction product = {"1.0", "part * v", Join::product, "whole"};
constexpr Reduction l1 = {"0.0", "part + abs(v)", Join::sum, "whole"};
constexpr Reduction l2 = {"0.0", "part + v * v", Join::sum, "sqrt(whole)"};
constexpr Reduction squares = {"0.0", "part + v * v", Join::sum, "whole"};

Result<bool> place(GpuLowering& lowering, const Node& node, const Reduction& kind,
                   const std::vector<bool>& reduced) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const Shape shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(y);
  Layout layout = lowering.layout(x);
  // What remains must be in ONNX's order again, unless the axes stay as ones.
  const bool keeps = shape.size() == y_shape.size();
  const bool images = shape.size() > 2 && layout == channels_last(shape);
  const bool one_axis_left = std::count(reduced.begin(), reduced.end(), false) <= 2 && !reduced[0];
  if (!images || (!keeps && !one_axis_left)) layout = {};
  Lanes lanes;
  int runs = 0;
  bool in_run = false;
  for (const std::size_t axis : axes_in_memory(shape, layout)) {
    if (shape[axis] == 1) continue;
    if (reduced[axis] && !in_run) ++runs;
    in_run = reduced[axis];
    (reduced[axis] ? lanes.size : runs == 0 ? lanes.outer : lanes.inner) *= shape[axis];
  }
  if (runs > 1) return false;
  const Layout made = keeps && !layout.plain() && y_shape.size() > 2 ? channels_last(y_shape) : Layout{};
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, made);
  return lowering.emit_reduction(kind, lanes, in, out);
}

Result<bool> lower_global_average(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  std::vector<bool> reduced(lowering.shape(x).size(), true);
  if (reduced.size() < 3) return false;
  reduced[0] = reduced[1] = false;
  return place(lowering, node, mean, reduced);
}

// `axes_input`: the first opset in which the axes are an input.
template <const Reduction& kind, std::int64_t axes_input>
Result<bool> lower(GpuLowering& lowering, const Node& node) {
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

void add_to(GpuOperatorTable& table) {
  table.add("GlobalAveragePool", lower_global_average);
  table.add("ReduceMean", lower<mean, 18>);
  table.add("ReduceSum", lower<sum, 13>);
  table.add("ReduceMax", lower<largest, 18>);
  table.add("ReduceMin", lower<smallest, 18>);
  table.add("ReduceProd", lower<product, 18>);
  table.add("ReduceL1", lower<l1, 18>);
  table.add("ReduceL2", lower<l2, 18>);
  table.add("ReduceSumSquare", lower<squares, 18>);
}

}  // namespace driftscope::gpu::reduce
