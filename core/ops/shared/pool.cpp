#include "core/ops/shared/pool.hpp"

#include <fmt/format.h>

namespace driftscope {
namespace {

Result<WindowAttributes> read_pool(const Node& node, std::size_t spatial_rank) {
  DRIFTSCOPE_TRY(Ints kernel, ints_attribute(node, "kernel_shape", {}));
  if (kernel.size() != spatial_rank)
    return bad_input(fmt::format("attribute kernel_shape: expected {} values, got [{}]", spatial_rank,
                                 fmt::join(kernel, ",")));
  return read_window(node, std::move(kernel));
}

}  // namespace

Result<std::optional<SymbolicShape>> infer_pool(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 3, 34));
  const auto& x = context.input(0).shape;
  if (!x) return std::optional<SymbolicShape>();
  DRIFTSCOPE_TRY(const WindowAttributes window, read_pool(context.node(), x->size() - 2));
  SymbolicShape y = *x;
  for (std::size_t axis = 0; axis + 2 < x->size(); ++axis) {
    DRIFTSCOPE_TRY(y[axis + 2], window_output(window, axis, (*x)[axis + 2]));
  }
  return std::optional<SymbolicShape>(std::move(y));
}

Result<PoolPlan> plan_pool(const Node& node, const Shape& x) {
  PoolPlan plan;
  DRIFTSCOPE_TRY(const WindowAttributes window, read_pool(node, x.size() - 2));
  DRIFTSCOPE_TRY(plan.axes, place_windows(window, std::span(x).subspan(2)));
  plan.planes = x[0] * x[1];
  for (const WindowAxis& axis : plan.axes) {
    plan.x_plane *= axis.input;
    plan.y_plane *= axis.output;
  }
  return plan;
}

}  // namespace driftscope
