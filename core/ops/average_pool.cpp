// AveragePool, opset 7 to 21 (dilations from 19): the mean of each window.
//
// Without count_include_pad the taps inside the input are averaged; with it the sum is divided by the
// taps inside the padded input, so that taps of a ceil_mode window beyond it never count.
// Strict definition (float): one accumulator in row-major order of the window, then a division.
#include "core/numerics/mean.hpp"
#include "core/ops/shared/pool.hpp"

namespace driftscope::ops::average_pool {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_TRY(auto shape, infer_pool(context));
  return std::vector{TensorType{context.input(0).dtype, std::move(shape)}};
}

// The divisor of the window's sum.
std::int64_t divisor(const PoolPlan& plan, std::span<const std::int64_t> o, bool include_pad) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < o.size(); ++i) {
    const WindowAxis& axis = plan.axes[i];
    count *= include_pad ? axis.first_tap_from(o[i], axis.input + axis.pad_end)
                         : axis.tap_end(o[i]) - axis.tap_begin(o[i]);
  }
  return count;
}

struct AveragePool {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const PoolPlan plan, plan_pool(context.node(), context.shape(0)));
    DRIFTSCOPE_TRY(const bool include_pad, flag_attribute(context.node(), "count_include_pad", false));
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    context.parallel_for(static_cast<std::int64_t>(y.size()), 512, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> o;
      for (std::int64_t item = begin; item < end; ++item) {
        plan.locate(item % plan.y_plane, o);
        const std::int64_t plane = item / plan.y_plane * plan.x_plane;
        const std::int64_t count = divisor(plan, o, include_pad);
        S& target = y[static_cast<std::size_t>(item)];
        target = S(0);  // a window entirely outside the data
        if (count == 0) continue;
        Mean<S> mean(count);
        for_each_tap(plan.axes, o, 0,
                     [&](std::int64_t offset) { mean.add(x[static_cast<std::size_t>(plane + offset)]); });
        target = mean.result();
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<AveragePool>(
      {.op_type = "AveragePool", .since = 7, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::average_pool
