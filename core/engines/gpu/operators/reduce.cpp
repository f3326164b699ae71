// Reductions over axes that lie together in memory, and GlobalAveragePool.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/lowering/reduced_axes.hpp"

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
                   const std::optional<ReducedAxes>& axes) {
  if (!axes) return false;
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  Lanes lanes;
  int runs = 0;
  bool in_run = false;
  for (const std::size_t axis : axes_in_memory(shape, axes->read)) {
    if (shape[axis] == 1) continue;
    const bool gone = axes->reduced[axis];
    if (gone && !in_run) ++runs;
    in_run = gone;
    (gone ? lanes.size : runs == 0 ? lanes.outer : lanes.inner) *= shape[axis];
  }
  if (runs > 1) return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, axes->read));
  const BufferId out = lowering.write(node.outputs[0], axes->made);
  return lowering.emit_reduction(kind, lanes, in, out);
}

Result<bool> lower_global_average(GpuLowering& lowering, const Node& node) {
  return place(lowering, node, mean, pooled_axes(lowering, node));
}

// `axes_input`: the first opset in which the axes are an input.
template <const Reduction& kind, std::int64_t axes_input>
Result<bool> lower(GpuLowering& lowering, const Node& node) {
  return place(lowering, node, kind, reduced_axes(lowering, node, axes_input));
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
