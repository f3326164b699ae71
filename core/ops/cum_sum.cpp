// CumSum, opset 11 to 28, and CumProd (from 26): along an axis that is an input; `exclusive` leaves out the
// element itself, `reverse` runs from the end. Integers wrap around.
//
// Strict definition (float): one accumulator from 0 (CumProd: from 1), in the direction of the sum.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <array>

#include "core/eval/integers.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/lanes.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::cum_sum {

Result<std::size_t> read_axis(const Tensor& tensor, std::size_t rank) {
  auto values = integers_of(tensor, "input 1 (axis)");
  if (!values.ok()) return std::move(values).error();
  if (values->size() != 1)
    return bad_input(fmt::format("input 1 (axis): expected one number, got {}", values->size()));
  auto axis = normalize_axis((*values)[0], rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "input 1 (axis)");
  return *axis;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "x", Kinds::numeric));
  for (const char* flag : {"exclusive", "reverse"}) {
    DRIFTSCOPE_TRY([[maybe_unused]] const bool on, flag_attribute(context.node(), flag, false));
  }
  if (const Tensor* axis = context.constant(1); axis != nullptr && context.input(0).shape) {
    DRIFTSCOPE_TRY([[maybe_unused]] const std::size_t at, read_axis(*axis, context.input(0).shape->size()));
  }
  return std::vector{context.input(0)};
}

template <class S, class T>
class RunningSum {
 public:
  void add(T x) { sum_ = cut_integer<T>(widen_integer(sum_) + widen_integer(x)); }
  [[nodiscard]] T result() const { return sum_; }

 private:
  T sum_ = 0;
};
template <class S>
class RunningSum<S, S> : public Sum<S> {};

template <class S, class T>
class RunningProduct {
 public:
  void add(T x) {
    if constexpr (std::is_same_v<S, T>)
      product_ = product_ * x;
    else
      product_ = cut_integer<T>(widen_integer(product_) * widen_integer(x));
  }
  [[nodiscard]] T result() const { return product_; }

 private:
  T product_ = T(1);
};

template <class Running, class T>
void accumulate(std::span<T> lane, bool exclusive, bool reverse) {
  Running sum;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    T& x = lane[reverse ? lane.size() - 1 - i : i];
    const T term = x;
    if (exclusive) x = sum.result();
    sum.add(term);
    if (!exclusive) x = sum.result();
  }
}

template <template <class, class> class Running>
struct Cumulative {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& shape = context.shape(0);
    DRIFTSCOPE_TRY(const std::size_t axis, read_axis(context.tensor(1), shape.size()));
    DRIFTSCOPE_TRY(const bool exclusive, flag_attribute(context.node(), "exclusive", false));
    DRIFTSCOPE_TRY(const bool reverse, flag_attribute(context.node(), "reverse", false));
    const Lanes lanes = Lanes::along(shape, axis);
    const auto map = [&]<class T>(std::span<const T> x, std::span<T> y) {
      if (y.empty()) return;
      map_lanes<T>(context, lanes, x, y,
                   [&](std::span<T> lane) { accumulate<Running<S, T>>(lane, exclusive, reverse); });
    };
    if (is_floating(context.dtype(0))) {
      map(context.real(0), context.real_output(0));
      return {};
    }
    context.with_integer(context.dtype(0), [&]<class T>() {
      map(context.tensor(0).template values<T>(), context.tensor_output(0).template mutable_values<T>());
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Cumulative<RunningSum>>(
      {.op_type = "CumSum", .since = 11, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
  table.add(with_kernels<Cumulative<RunningProduct>>(
      {.op_type = "CumProd", .since = 26, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::cum_sum
