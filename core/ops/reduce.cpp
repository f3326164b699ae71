// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceLogSum,
// ReduceLogSumExp, ReduceSumSquare, opset 1 to 21. The axes are an attribute, or an input (ReduceSum from
// opset 13, the others from 18); none means all, or, with noop_with_empty_axes, no reduction. Integers wrap
// around; ReduceMax and ReduceMin also take bool (opset 20).
//
// Strict definition (float): sums as in lane_sum.hpp; a product from the first to the last; the log of a
// sum of powers with the largest element taken out.
#include <fmt/format.h>

#include "core/eval/integers.hpp"
#include "core/graph/attributes.hpp"
#include "core/numerics/lane_sum.hpp"
#include "core/numerics/product.hpp"
#include "core/numerics/rounding.hpp"
#include "core/ops/shared/reduction.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::reduce {

template <class T>
T wrapping_sum(std::span<const T> lane) {
  std::uint64_t sum = 0;
  for (const T x : lane) sum += widen_integer(x);
  return cut_integer<T>(sum);
}

// An integer result of a real-valued formula: computed in double, truncated towards zero.
template <class Row, class T>
T through_double(std::span<const T> lane) {
  const std::vector<double> values(lane.begin(), lane.end());
  return truncate_to_integer<T>(Row::template reduce<double>(std::span<const double>(values), true));
}

struct SumRow {
  template <class S>
  static S reduce(std::span<const S> lane, bool contiguous) {
    return sum_of(lane, contiguous);
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    return wrapping_sum(lane);
  }
};

struct MeanRow {
  template <class S>
  static S reduce(std::span<const S> lane, bool contiguous) {
    return mean_of(lane, contiguous);
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    if (lane.empty()) return T(0);
    const T sum = wrapping_sum(lane);
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(std::int64_t{sum} / static_cast<std::int64_t>(lane.size()));
    else
      return static_cast<T>(std::uint64_t{sum} / lane.size());
  }
};

struct MaxRow {
  static constexpr bool takes_bool = true;
  template <class S>
  static S reduce(std::span<const S> lane, bool) {
    S result = math::exact<S>(-std::numeric_limits<double>::infinity());
    if (!lane.empty()) result = lane[0];
    for (const S& x : lane) result = math::max(result, x);
    return result;
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    return lane.empty() ? std::numeric_limits<T>::lowest() : *std::max_element(lane.begin(), lane.end());
  }
};

struct MinRow {
  static constexpr bool takes_bool = true;
  template <class S>
  static S reduce(std::span<const S> lane, bool) {
    S result = math::exact<S>(std::numeric_limits<double>::infinity());
    if (!lane.empty()) result = lane[0];
    for (const S& x : lane) result = math::min(result, x);
    return result;
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    return lane.empty() ? std::numeric_limits<T>::max() : *std::min_element(lane.begin(), lane.end());
  }
};

struct ProdRow {
  template <class S>
  static S reduce(std::span<const S> lane, bool) {
    return product_of(lane);
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    std::uint64_t product = 1;
    for (const T x : lane) product *= widen_integer(x);
    return cut_integer<T>(product);
  }
};

struct L1Row {
  template <class S>
  static S reduce(std::span<const S> lane, bool contiguous) {
    return sum_of(lane, contiguous, [](const S& x) { return math::abs(x); });
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    std::uint64_t sum = 0;
    for (const T x : lane) sum += x < T(0) ? 0u - widen_integer(x) : widen_integer(x);
    return cut_integer<T>(sum);
  }
};

struct SumSquareRow {
  template <class S>
  static S reduce(std::span<const S> lane, bool contiguous) {
    return sum_of_squares(lane, contiguous);
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    std::uint64_t sum = 0;
    for (const T x : lane) sum += widen_integer(x) * widen_integer(x);
    return cut_integer<T>(sum);
  }
};

struct L2Row {
  template <class S>
  static S reduce(std::span<const S> lane, bool contiguous) {
    return math::sqrt(sum_of_squares(lane, contiguous));
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    return through_double<L2Row>(lane);
  }
};

struct LogSumRow {
  template <class S>
  static S reduce(std::span<const S> lane, bool contiguous) {
    return math::log(sum_of(lane, contiguous));
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    return through_double<LogSumRow>(lane);
  }
};

// The bound also covers log Σ eˣ computed directly, where the logarithm's error is that of the result.
struct LogSumExpRow {
  template <class S>
  static S reduce(std::span<const S> lane, bool contiguous) {
    S shift = MaxRow::reduce(lane, contiguous);
    if (!std::isfinite(math::value(shift))) shift = math::is_nan(shift) ? shift : S(0);
    const S sum = sum_of(lane, contiguous, [&](const S& x) { return math::exp(x - shift); });
    S result = shift + math::log(sum);
    if constexpr (std::is_same_v<S, Bounded>) {
      if (std::isfinite(result.value) && std::isfinite(result.worst)) {
        const ErrorModel& model = current_error_model();
        const double direct = function_error(model, model.log, std::fabs(result.value), 0.0);
        result.worst += direct;
        result.likely += direct;
        result.systematic += direct;
      }
    }
    return result;
  }
  template <class T>
  static T integer(std::span<const T> lane) {
    return through_double<LogSumExpRow>(lane);
  }
};

bool axes_are_input(const Node& node) { return node.opset >= (node.op_type == "ReduceSum" ? 13 : 18); }

struct Options {
  std::vector<bool> reduced;  ///< by axis
  bool keep = true;
  bool nothing = false;  ///< no axes were given, which means none
};

// Nothing if the axes are not known yet.
Result<std::optional<Options>> read_options(const Node& node, const Tensor* axes, bool axes_given,
                                            std::size_t rank) {
  Options options;
  DRIFTSCOPE_TRY(options.keep, flag_attribute(node, "keepdims", true));
  const bool as_input = axes_are_input(node);
  bool noop = false;
  if (as_input) {
    DRIFTSCOPE_TRY(noop, flag_attribute(node, "noop_with_empty_axes", false));
  }
  DRIFTSCOPE_TRY(const auto given, read_axes(node, axes, axes_given, as_input, rank));
  if (!given) return std::optional<Options>();
  options.nothing = noop && given->empty();
  options.reduced.assign(rank, given->empty() && !noop);
  for (const std::size_t axis : *given) options.reduced[axis] = true;
  return std::optional(std::move(options));
}

template <class Row>
constexpr Kinds kinds_of() {
  if constexpr (requires { Row::takes_bool; })
    return Kinds::numeric_or_bool;
  else
    return Kinds::numeric;
}

template <class Row>
Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", kinds_of<Row>()));
  if (!axes_are_input(context.node()) && context.input_count() > 1)
    return bad_input(fmt::format("expected 1 input, got {}: axes are an attribute in opset {}",
                                 context.input_count(), context.opset()));
  TensorType y{context.input(0).dtype, std::nullopt};
  const auto& shape = context.input(0).shape;
  if (!shape) return std::vector{std::move(y)};
  const bool given = context.has_input(1);
  DRIFTSCOPE_TRY(const auto options,
                 read_options(context.node(), given ? context.constant(1) : nullptr, given, shape->size()));
  if (!options) {
    DRIFTSCOPE_TRY(const bool keep, flag_attribute(context.node(), "keepdims", true));
    if (keep) y.shape = unknown_shape(shape->size());
    return std::vector{std::move(y)};
  }
  y.shape.emplace();
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if (!options->reduced[i])
      y.shape->push_back((*shape)[i]);
    else if (options->keep)
      y.shape->push_back(known_dimension(1));
  }
  return std::vector{std::move(y)};
}

template <class Row>
struct Reduce {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const bool given = context.has_input(1);
    DRIFTSCOPE_TRY(const auto options, read_options(context.node(), given ? &context.tensor(1) : nullptr,
                                                    given, context.shape(0).size()));
    const ReducedLanes lanes(context.shape(0), options->reduced);
    const auto reduce = [&]<class T>(std::span<const T> x, std::span<T> y, const auto& apply) {
      if (options->nothing) {
        std::copy(x.begin(), x.end(), y.begin());
        return;
      }
      context.parallel_for(static_cast<std::int64_t>(y.size()), lane_grain(lanes.size()),
                           [&](std::int64_t begin, std::int64_t end) {
                             std::vector<T> scratch;
                             for (std::int64_t i = begin; i < end; ++i)
                               y[static_cast<std::size_t>(i)] = apply(lanes.lane(x, i, scratch));
                           });
    };
    if (is_floating(context.dtype(0))) {
      reduce(context.real(0), context.real_output(0),
             [&](std::span<const S> lane) { return Row::template reduce<S>(lane, lanes.contiguous()); });
      return {};
    }
    context.with_integer_or_bool(context.dtype(0), [&]<class T>() {
      reduce(context.tensor(0).template values<T>(), context.tensor_output(0).template mutable_values<T>(),
             [](std::span<const T> lane) { return Row::template integer<T>(lane); });
    });
    return {};
  }
};

template <class Row>
void add_row(OperatorTable& table, std::string_view op_type) {
  table.add(with_kernels<Reduce<Row>>(
      {.op_type = op_type, .inputs = {1, 2}, .outputs = {1, 1}, .infer = infer<Row>}));
}

void add_to(OperatorTable& table) {
  add_row<SumRow>(table, "ReduceSum");
  add_row<MeanRow>(table, "ReduceMean");
  add_row<MaxRow>(table, "ReduceMax");
  add_row<MinRow>(table, "ReduceMin");
  add_row<ProdRow>(table, "ReduceProd");
  add_row<L1Row>(table, "ReduceL1");
  add_row<L2Row>(table, "ReduceL2");
  add_row<LogSumRow>(table, "ReduceLogSum");
  add_row<LogSumExpRow>(table, "ReduceLogSumExp");
  add_row<SumSquareRow>(table, "ReduceSumSquare");
}

}  // namespace driftscope::ops::reduce
