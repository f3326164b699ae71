// MaxPool, opset 1 to 21: the largest of each window, NaN if the window holds one. The optional
// output Indices (opset 8) is the position of the first such element in the whole of X, its spatial
// part row-major, or column-major with storage_order 1. Padding never wins: it counts as −∞.
#include <fmt/format.h>

#include <limits>

#include "core/eval/integers.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/pool.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::ops::max_pool {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::numeric));
  DRIFTSCOPE_TRY(const auto shape, infer_pool(context));
  return std::vector{TensorType{context.input(0).dtype, shape}, TensorType{DType::int64, shape}};
}

// The row-major offset in a plane as a column-major one: the first spatial axis varies fastest.
std::int64_t column_major(const PoolPlan& plan, std::int64_t offset) {
  std::int64_t result = 0;
  for (std::size_t axis = plan.axes.size(); axis-- > 0;) {
    result = result * plan.axes[axis].input + offset % plan.axes[axis].input;
    offset /= plan.axes[axis].input;
  }
  return result;
}

// The result for a window entirely in the padding.
template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, Bounded>)
    return Bounded(-std::numeric_limits<double>::infinity());
  else if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

template <class T, class S>
void max_pool(const KernelContext<S>& context, const PoolPlan& plan, bool columns_first, std::span<const T> x,
              std::span<T> y, std::span<std::int64_t> indices) {
  context.parallel_for(static_cast<std::int64_t>(y.size()), 512, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> o;
    for (std::int64_t item = begin; item < end; ++item) {
      plan.locate(item % plan.y_plane, o);
      const std::int64_t plane = item / plan.y_plane * plan.x_plane;
      T best = lowest<T>();
      std::int64_t where = -1;
      for_each_tap(plan.axes, o, 0, [&](std::int64_t offset) {
        const T candidate = x[static_cast<std::size_t>(plane + offset)];
        const bool wins =
            math::value(candidate) > math::value(best) || (math::is_nan(candidate) && !math::is_nan(best));
        best = where < 0 ? candidate : math::max(best, candidate);
        if (where < 0 || wins) where = offset;
      });
      y[static_cast<std::size_t>(item)] = best;
      if (!indices.empty())
        indices[static_cast<std::size_t>(item)] =
            plane + (columns_first && where >= 0 ? column_major(plan, where) : where);
    }
  });
}

// Quantized values that rounding may have moved: the largest moves by as much as the one that moved most.
Status pool_moved(KernelContext<Bounded>& context, const PoolPlan& plan, bool columns_first) {
  DRIFTSCOPE_TRY(const std::span<Bounded> bounds, context.bounds_output(0));
  max_pool<Bounded>(context, plan, columns_first, context.real(0), bounds, std::span<std::int64_t>());
  std::vector<std::int32_t> steps;
  for (const Bounded& x : bounds) steps.push_back(static_cast<std::int32_t>(x.value));
  store_quantized(steps, context.tensor_output(0));
  return {};
}

struct MaxPool {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const PoolPlan plan, plan_pool(context.node(), context.shape(0)));
    DRIFTSCOPE_TRY(const bool columns_first, flag_attribute(context.node(), "storage_order", false));
    std::span<std::int64_t> indices;
    if (context.wants_output(1)) indices = context.tensor_output(1).template mutable_values<std::int64_t>();
    if (is_floating(context.dtype(0))) {
      max_pool<S>(context, plan, columns_first, context.real(0), context.real_output(0), indices);
      return {};
    }
    if constexpr (std::is_same_v<S, Bounded>)
      if (quantized_range(context.dtype(0)) && !context.wants_output(1) && !context.real(0).empty())
        return pool_moved(context, plan, columns_first);
    context.with_integer(context.dtype(0), [&]<class T>() {
      max_pool<T>(context, plan, columns_first, context.tensor(0).template values<T>(),
                  context.tensor_output(0).template mutable_values<T>(), indices);
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MaxPool>(
      {.op_type = "MaxPool", .inputs = {1, 1}, .outputs = {1, 2}, .infer = infer, .exact_copy = true}));
}

}  // namespace driftscope::ops::max_pool
