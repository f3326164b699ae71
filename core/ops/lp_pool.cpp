// LpPool and GlobalLpPool, opset 2 to 21: (Σ|x|^p)^(1/p) over each window, over each channel.
// Padding adds nothing.
//
// Strict definition (float): |x|^p by repeated multiplication from the left for p up to 3, else
// pow; one accumulator in row-major order of the window, for a whole channel reduce_sum; the root
// of 2 by sqrt, others by pow.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/pool.hpp"

namespace driftscope::ops::lp_pool {

Result<std::int64_t> read_p(const Node& node) {
  DRIFTSCOPE_TRY(const std::int64_t p, int_attribute(node, "p", 2));
  if (p < 1 || p > 1024) return bad_input(fmt::format("attribute p: expected 1 to 1024, got {}", p));
  return p;
}

template <class S>
S power(const S& x, std::int64_t p) {
  const S size = math::abs(x);
  if (p == 1) return size;
  if (p == 2) return size * size;
  if (p == 3) return size * size * size;
  return math::pow(size, math::exact<S>(static_cast<double>(p)));
}

template <class S>
S root(const S& sum, std::int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return math::sqrt(sum);
  return math::pow(sum, math::rounded_constant<S>(1.0 / static_cast<double>(p)));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_TRY([[maybe_unused]] const std::int64_t p, read_p(context.node()));
  DRIFTSCOPE_TRY(auto shape, infer_pool(context));
  return std::vector{TensorType{context.input(0).dtype, std::move(shape)}};
}

struct LpPool {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const PoolPlan plan, plan_pool(context.node(), context.shape(0)));
    DRIFTSCOPE_TRY(const std::int64_t p, read_p(context.node()));
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    context.parallel_for(static_cast<std::int64_t>(y.size()), 512, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> o;
      for (std::int64_t item = begin; item < end; ++item) {
        plan.locate(item % plan.y_plane, o);
        const std::int64_t plane = item / plan.y_plane * plan.x_plane;
        Sum<S> sum;
        for_each_tap(plan.axes, o, 0, [&](std::int64_t offset) {
          sum.add(power(x[static_cast<std::size_t>(plane + offset)], p));
        });
        y[static_cast<std::size_t>(item)] = root(sum.result(), p);
      }
    });
    return {};
  }
};

Result<std::vector<TensorType>> infer_global(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 2, std::size_t(-1)));
  DRIFTSCOPE_TRY([[maybe_unused]] const std::int64_t p, read_p(context.node()));
  TensorType y = context.input(0);
  if (y.shape)
    for (std::size_t axis = 2; axis < y.shape->size(); ++axis) (*y.shape)[axis] = known_dimension(1);
  return std::vector{std::move(y)};
}

struct GlobalLpPool {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const std::int64_t p, read_p(context.node()));
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const std::size_t plane = x.size() / y.size();
    context.parallel_for(static_cast<std::int64_t>(y.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<S> powers(plane);
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        for (std::size_t k = 0; k < plane; ++k) powers[k] = power(x[i * plane + k], p);
        y[i] = root(reduce_sum(std::span<const S>(powers)), p);
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<LpPool>(
      {.op_type = "LpPool", .since = 2, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
  table.add(with_kernels<GlobalLpPool>(
      {.op_type = "GlobalLpPool", .since = 2, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_global}));
}

}  // namespace driftscope::ops::lp_pool
