// Softmax: e^(x − max) / Σ e^(x − max); LogSoftmax: x − max − log Σ e^(x − max); Hardmax: 1 at the first
// largest element, else 0. Along `axis` (opset 13 to 21, default the last), or over all axes from `axis`
// on (opset 1 to 12, default 1).
//
// Strict definition (float): e from strict_exp, the sum by reduce_sum over the axis in its order
// (whatever its stride), then a division, or (x − max) − log of the sum.
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/lanes.hpp"
#include "core/ops/shared/log_softmax.hpp"
#include "core/ops/shared/real_elements.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::softmax {

Result<Lanes> lanes_of(const Node& node, std::size_t rank, const Shape& shape) {
  const bool one_axis = node.opset >= 13;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", one_axis ? -1 : 1));
  if (rank == 0) return Lanes{};
  auto axis = normalize_axis(given, rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "attribute axis");
  return Lanes::along(shape, *axis, !one_axis);
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::floating));
  if (const auto& shape = context.input(0).shape) {
    DRIFTSCOPE_TRY([[maybe_unused]] const Lanes lanes,
                   lanes_of(context.node(), shape->size(), Shape(shape->size(), 1)));
  }
  return std::vector{context.input(0)};
}

// A Bounded quotient is written e · (1/Σ): two roundings, so that the bound also covers
// implementations that multiply by the reciprocal.
struct Softmax {
  template <class S>
  static void apply(std::span<S> lane) {
    const S largest = largest_of<S>(lane);
    for (S& x : lane) x = math::exp(x - largest);
    const S sum = reduce_sum(std::span<const S>(lane));
    if constexpr (std::is_same_v<S, Bounded>) {
      const Bounded reciprocal = Bounded(1.0) / sum;
      for (S& x : lane) x = x * reciprocal;
    } else {
      for (S& x : lane) x = x / sum;
    }
  }
};

struct LogSoftmax {
  template <class S>
  static void apply(std::span<S> lane) {
    log_softmax(lane);
  }
};

// If errors leave open which element is the largest, each candidate may be 0 or 1.
struct Hardmax {
  template <class S>
  static void apply(std::span<S> lane) {
    std::size_t at = 0;
    for (std::size_t i = 1; i < lane.size(); ++i)
      if (math::value(lane[i]) > math::value(lane[at])) at = i;
    if constexpr (std::is_same_v<S, Bounded>) {
      const Bounded top = lane[at];
      std::vector<bool> rivals(lane.size());
      bool any = false;
      for (std::size_t i = 0; i < lane.size(); ++i) {
        const double room = lane[i].worst + top.worst;
        rivals[i] = i != at && room > 0.0 && !(top.value - lane[i].value > room);
        any = any || rivals[i];
      }
      rivals[at] = any;
      for (std::size_t i = 0; i < lane.size(); ++i)
        lane[i] = {i == at ? 1.0 : 0.0, rivals[i] ? 1.0 : 0.0, rivals[i] ? 1.0 : 0.0};
    } else {
      for (std::size_t i = 0; i < lane.size(); ++i) lane[i] = i == at ? S(1) : S(0);
    }
  }
};

template <class Row>
struct AlongAxis {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& shape = context.shape(0);
    DRIFTSCOPE_TRY(const Lanes lanes, lanes_of(context.node(), shape.size(), shape));
    if (context.real_output(0).empty()) return {};
    map_lanes<S>(context, lanes, RealElements<S>(context, 0), context.real_output(0),
                 [](std::span<S> lane) { Row::apply(lane); });
    return {};
  }
};

template <class Row>
void add_row(OperatorTable& table, std::string_view op_type) {
  table.add(with_kernels<AlongAxis<Row>>(
      {.op_type = op_type, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

void add_to(OperatorTable& table) {
  add_row<Softmax>(table, "Softmax");
  add_row<LogSoftmax>(table, "LogSoftmax");
  add_row<Hardmax>(table, "Hardmax");
}

}  // namespace driftscope::ops::softmax
