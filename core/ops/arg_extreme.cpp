// ArgMax, ArgMin, opset 1 to 21: the index of the largest or smallest element along an axis, the first
// (or, select_last_index, opset 12, the last) of equal ones. The first NaN wins, as in NumPy.
//
// Where the inputs carry errors, every element that may be the extreme one is allowed.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/eval/integers.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/lanes.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::arg_extreme {

struct Options {
  std::size_t axis = 0;
  bool keep = true;
  bool last = false;
};

Result<Options> read_options(const Node& node, std::size_t rank) {
  Options options;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  auto axis = normalize_axis(given, rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "attribute axis");
  options.axis = *axis;
  DRIFTSCOPE_TRY(options.keep, flag_attribute(node, "keepdims", true));
  if (node.opset >= 12) {
    DRIFTSCOPE_TRY(options.last, flag_attribute(node, "select_last_index", false));
  }
  return options;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::numeric));
  const auto& shape = context.input(0).shape;
  if (!shape) return std::vector{TensorType{DType::int64, std::nullopt}};
  DRIFTSCOPE_TRY(const Options options, read_options(context.node(), shape->size()));
  SymbolicShape y = *shape;
  const auto at = y.begin() + static_cast<std::ptrdiff_t>(options.axis);
  if (at->size == 0)
    return bad_input(fmt::format("input 0 (data): axis {} of shape {} is empty and has no extreme",
                                 options.axis, shape_text(*shape)));
  if (options.keep)
    *at = known_dimension(1);
  else
    y.erase(at);
  return std::vector{TensorType{DType::int64, std::move(y)}};
}

struct Max {
  template <class T>
  static bool beats(T a, T b) {
    return a > b;
  }
};
struct Min {
  template <class T>
  static bool beats(T a, T b) {
    return a < b;
  }
};

template <class Row, class T>
std::size_t find_extreme(std::span<const T> lane, bool last) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const auto x = math::value(lane[i]);
    const auto top = math::value(lane[best]);
    if (x != x) return i;
    if (Row::beats(x, top) || (last && x == top)) best = i;
  }
  return best;
}

// The possible distance of the true index from `best`.
template <class Row>
Bounded reach(std::span<const Bounded> lane, std::size_t best) {
  const Bounded& top = lane[best];
  double worst = 0.0;
  double likely = 0.0;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const double apart = std::fabs(lane[i].value - top.value);
    const double distance = std::fabs(static_cast<double>(i) - static_cast<double>(best));
    if (top.value != top.value)
      return {static_cast<double>(best), std::numeric_limits<double>::infinity(),
              std::numeric_limits<double>::infinity()};
    const double room = lane[i].worst + top.worst;
    if (room > 0.0 && !(apart > room)) worst = std::fmax(worst, distance);
    const double likely_room = lane[i].likely + top.likely;
    if (likely_room > 0.0 && !(apart > likely_room)) likely = std::fmax(likely, distance);
  }
  return {static_cast<double>(best), worst, likely};
}

template <class Row>
struct ArgExtreme {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& shape = context.shape(0);
    DRIFTSCOPE_TRY(const Options options, read_options(context.node(), shape.size()));
    const Lanes lanes = Lanes::along(shape, options.axis);
    const auto y = context.tensor_output(0).template mutable_values<std::int64_t>();
    const auto find = [&]<class T>(std::span<const T> x) {
      for_each_lane<T>(context, lanes, x, [&](std::int64_t item, std::span<T> lane) {
        y[static_cast<std::size_t>(item)] =
            static_cast<std::int64_t>(find_extreme<Row, T>(lane, options.last));
      });
    };
    if (!is_floating(context.dtype(0))) {
      context.with_integer(context.dtype(0),
                           [&]<class T>() { find(context.tensor(0).template values<T>()); });
      return {};
    }
    find(context.real(0));
    if constexpr (std::is_same_v<S, Bounded>) {
      if (!math::has_error(context.real(0))) return {};
      DRIFTSCOPE_TRY(const std::span<Bounded> bounds, context.bounds_output(0));
      for_each_lane<Bounded>(context, lanes, context.real(0),
                             [&](std::int64_t item, std::span<Bounded> lane) {
                               const auto at = static_cast<std::size_t>(item);
                               bounds[at] = reach<Row>(lane, static_cast<std::size_t>(y[at]));
                             });
    }
    return {};
  }
};

template <class Row>
void add_row(OperatorTable& table, std::string_view op_type) {
  table.add(with_kernels<ArgExtreme<Row>>(
      {.op_type = op_type, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

void add_to(OperatorTable& table) {
  add_row<Max>(table, "ArgMax");
  add_row<Min>(table, "ArgMin");
}

}  // namespace driftscope::ops::arg_extreme
