// GlobalAveragePool and GlobalMaxPool, opset 1 to 21: one number per channel.
//
// Strict definition (float): the average is reduce_sum over the channel's elements, then a division.
#include "core/numerics/math.hpp"
#include "core/numerics/mean.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::global_pool {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 2, std::size_t(-1)));
  TensorType y = context.input(0);
  if (y.shape)
    for (std::size_t axis = 2; axis < y.shape->size(); ++axis) (*y.shape)[axis] = known_dimension(1);
  return std::vector{std::move(y)};
}

struct Average {
  template <class S>
  static S reduce(std::span<const S> plane) {
    if constexpr (std::is_same_v<S, Bounded>) {
      Mean<Bounded> mean(static_cast<std::int64_t>(plane.size()));
      for (const Bounded& x : plane) mean.add(x);
      return mean.result();
    } else {
      return reduce_sum(plane) / static_cast<S>(plane.size());
    }
  }
};

struct Max {
  template <class S>
  static S reduce(std::span<const S> plane) {
    S best = math::exact<S>(-std::numeric_limits<double>::infinity());
    for (const S& x : plane) best = math::max(best, x);
    return best;
  }
};

template <class Reduction>
struct GlobalPool {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const std::size_t plane = x.size() / y.size();
    context.parallel_for(static_cast<std::int64_t>(y.size()),
                         std::max<std::int64_t>(1, 8192 / static_cast<std::int64_t>(plane + 1)),
                         [&](std::int64_t begin, std::int64_t end) {
                           for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end);
                                ++i)
                             y[i] = Reduction::template reduce<S>(x.subspan(i * plane, plane));
                         });
    return {};
  }
};

template <class Reduction>
void add_row(OperatorTable& table, std::string_view op_type) {
  table.add(with_kernels<GlobalPool<Reduction>>(
      {.op_type = op_type, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

void add_to(OperatorTable& table) {
  add_row<Average>(table, "GlobalAveragePool");
  add_row<Max>(table, "GlobalMaxPool");
}

}  // namespace driftscope::ops::global_pool
