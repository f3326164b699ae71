// Softmax: e^(x − max) / Σ e^(x − max) along `axis` (opset 13 to 21, default the last), or over all
// axes from `axis` on (opset 1 to 12, default 1).
//
// Strict definition (float): e from strict_exp, the sum by reduce_sum over the axis in its order
// (whatever its stride), then a division.
#include "core/ops/support/attributes.hpp"
#include "core/ops/support/math.hpp"
#include "core/ops/support/shape_rules.hpp"
#include "core/ops/support/sum.hpp"

namespace driftscope {
namespace {

// The tensor as outer × size × inner; lanes run along `size`.
struct Lanes {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
};

Result<Lanes> lanes_of(const Node& node, const Shape& shape) {
  const bool one_axis = node.opset >= 13;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", one_axis ? -1 : 1));
  Lanes lanes;
  if (shape.empty()) return lanes;
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i < axis) lanes.outer *= shape[i];
    else if (i == axis || !one_axis) lanes.size *= shape[i];
    else lanes.inner *= shape[i];
  }
  return lanes;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::floating));
  DRIFTSCOPE_TRY(const std::int64_t axis,
                 int_attribute(context.node(), "axis", context.opset() >= 13 ? -1 : 1));
  if (const auto& shape = context.input(0).shape; shape && !shape->empty())
    if (auto normal = normalize_axis(axis, shape->size()); !normal.ok())
      return in_context(std::move(normal).error(), "attribute axis");
  return std::vector{context.input(0)};
}

// In place. A Bounded quotient is written e · (1/Σ): two roundings, so that the bound also covers
// implementations that multiply by the reciprocal.
template <class S>
void softmax(std::span<S> lane) {
  S largest = lane[0];
  for (const S& x : lane) largest = math::max(largest, x);
  for (S& x : lane) x = math::exp(x - largest);
  const S sum = reduce_sum(std::span<const S>(lane));
  if constexpr (std::is_same_v<S, Bounded>) {
    const Bounded reciprocal = Bounded(1.0) / sum;
    for (S& x : lane) x = x * reciprocal;
  } else {
    for (S& x : lane) x = x / sum;
  }
}

struct Softmax {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    DRIFTSCOPE_TRY(const Lanes lanes, lanes_of(context.node(), context.shape(0)));
    const std::int64_t grain = std::max<std::int64_t>(1, 1024 / lanes.size);
    context.parallel_for(
        lanes.outer * lanes.inner, grain, [&](std::int64_t begin, std::int64_t end) {
          std::vector<S> lane(static_cast<std::size_t>(lanes.size));
          for (std::int64_t item = begin; item < end; ++item) {
            const std::int64_t first =
                item / lanes.inner * lanes.size * lanes.inner + item % lanes.inner;
            const auto at = [&](std::size_t i) {
              return static_cast<std::size_t>(first + static_cast<std::int64_t>(i) * lanes.inner);
            };
            for (std::size_t i = 0; i < lane.size(); ++i) lane[i] = x[at(i)];
            softmax(std::span<S>(lane));
            for (std::size_t i = 0; i < lane.size(); ++i) y[at(i)] = lane[i];
          }
        });
    return {};
  }
};

}  // namespace

void register_softmax(OperatorTable& table) {
  table.add(with_kernels<Softmax>(
      {.op_type = "Softmax", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope
