// Resize, opset 10 to 21, and Upsample, opset 7 to 9: nearest, linear and cubic, one axis after the
// other from the last to the first; axes that keep their size and scale are unchanged.
//
// Strict definition (float): coordinates and weights in double (resample.cpp), each weight rounded
// to float32; each pass is one accumulator over the taps in ascending order, starting at +0.
// Integers are weighted in double and truncated towards zero.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/eval/integers.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/resize_plan.hpp"

namespace driftscope::ops::resize {

const Tensor* constant_at(const InferContext& context, const std::optional<std::size_t>& index) {
  return index ? context.constant(*index) : nullptr;
}

// Whether the sizes depend on the values of an input that are not yet known.
bool pending(const InferContext& context, const std::optional<std::size_t>& index) {
  if (!index || context.constant(*index) != nullptr) return false;
  const auto& shape = context.input(*index).shape;
  return !shape || shape->size() != 1 || shape->front().size != 0;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const ResizeAttributes attributes, read_resize(context.node()));
  TensorType y = context.input(0);
  if (attributes.how.mode != Resampling::Mode::nearest)
    DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::numeric));
  if (!y.shape) return std::vector{std::move(y)};
  const ResizeInputs inputs = resize_inputs(context.node());
  const auto x = concrete_shape(y.shape);
  if (!x || pending(context, inputs.scales) || pending(context, inputs.sizes) ||
      pending(context, inputs.roi)) {
    y.shape = unknown_shape(y.shape->size());
    return std::vector{std::move(y)};
  }
  DRIFTSCOPE_TRY(const auto plan,
                 plan_resize(attributes, *x,
                             {constant_at(context, inputs.roi), constant_at(context, inputs.scales),
                              constant_at(context, inputs.sizes)}));
  for (std::size_t i = 0; i < plan.size(); ++i) (*y.shape)[i] = known_dimension(plan[i].output);
  return std::vector{std::move(y)};
}

/// The tensor around one axis: [outer, size, inner].
struct Around {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
};

Around around(const Shape& shape, std::size_t axis) {
  Around result;
  for (std::size_t i = 0; i < axis; ++i) result.outer *= shape[i];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) result.inner *= shape[i];
  return result;
}

// Runtimes may interpolate as a + (b − a)·w: rounding is then relative to the difference, although the weight
// of the larger element may be small. Of the difference, its product, and four of the weight as below.
double difference_rounding(const Taps& taps, const Bounded* x, std::int64_t step) {
  if (taps.at.size() != 2) return 0.0;
  const double difference = std::fabs(x[taps.at[1] * step].value - x[taps.at[0] * step].value);
  return 6.0 * current_error_model().unit_roundoff * std::fabs(taps.weight[1]) * difference;
}

// The weighted sum of elements `step` apart, at x.
template <class S>
S weighted(const ResampledPoint& point, const S* x, std::int64_t step) {
  const Taps& taps = point.taps;
  if (taps.at.size() == 1 && taps.weight[0] == 1.0) return x[taps.at[0] * step];
  if constexpr (std::is_same_v<S, Bounded>) {
    Sum<Bounded> sum;
    // A weight is the result of up to three roundings, and may be multiplied into another axis'
    // weight.
    for (int i = 0; i < 4; ++i) sum.round_once_more();
    double size = 0.0;
    for (std::size_t i = 0; i < taps.at.size(); ++i) {
      const Bounded& element = x[taps.at[i] * step];
      sum.add_product(Bounded(taps.weight[i]), element);
      size += std::fabs(element.value) + element.worst;
    }
    Bounded result = sum.result();
    const double weighting = point.weight_error * size + difference_rounding(taps, x, step);
    result.worst += weighting;
    result.likely += weighting;
    result.systematic += weighting;
    return result;
  } else {
    S sum = S(0);
    for (std::size_t i = 0; i < taps.at.size(); ++i)
      sum = sum + static_cast<S>(taps.weight[i]) * x[taps.at[i] * step];
    return sum;
  }
}

// Widens `result` by the effects of coordinate errors.
void widen(const ResampledPoint& point, const Bounded* x, std::int64_t step, Bounded& result) {
  for (const Taps& taps : point.alternatives) {
    double value = 0.0;
    double worst = 0.0;
    double rounding = 0.0;
    for (std::size_t i = 0; i < taps.at.size(); ++i) {
      const Bounded& element = x[taps.at[i] * step];
      value += taps.weight[i] * element.value;
      worst += std::fabs(taps.weight[i]) * element.worst;
      if (taps.at.size() > 1) rounding += std::fabs(taps.weight[i] * element.value);
    }
    // The sum there is rounded as well, even if the one here has a single element.
    worst += 8.0 * current_error_model().unit_roundoff * rounding;
    const double distance = std::fabs(value - result.value);
    if (!std::isfinite(distance)) {
      if (value == result.value || (std::isnan(value) && std::isnan(result.value))) continue;
      result = Bounded(result.value, std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::infinity());
      return;
    }
    result.worst = std::fmax(result.worst, distance + std::fmax(worst, result.worst));
    result.likely = std::fmax(result.likely, distance + std::fmax(worst, result.likely));
    result.systematic = result.likely;
  }
}

template <class S>
std::vector<S> resample_one_axis(const auto& context, std::span<const S> x, const Shape& shape,
                                 std::size_t axis, const std::vector<ResampledPoint>& points) {
  const Around sizes = around(shape, axis);
  const auto output = static_cast<std::int64_t>(points.size());
  std::vector<S> y(static_cast<std::size_t>(sizes.outer * output * sizes.inner));
  context.parallel_for(sizes.outer * output,
                       std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, sizes.inner)),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const ResampledPoint& point = points[static_cast<std::size_t>(row % output)];
                           const S* from = x.data() + row / output * shape[axis] * sizes.inner;
                           S* to = y.data() + row * sizes.inner;
                           for (std::int64_t i = 0; i < sizes.inner; ++i) {
                             to[i] = weighted(point, from + i, sizes.inner);
                             if constexpr (std::is_same_v<S, Bounded>)
                               if (!point.alternatives.empty()) widen(point, from + i, sizes.inner, to[i]);
                           }
                         }
                       });
  return y;
}

/// The axes that change, last first, with their plans.
struct Pass {
  std::size_t axis;
  std::vector<ResampledPoint> points;
};

std::vector<Pass> passes_of(const ResizeAttributes& attributes, const std::vector<ResampledAxis>& plan) {
  std::vector<Pass> passes;
  for (std::size_t axis = plan.size(); axis-- > 0;) {
    const bool crops = attributes.how.coordinate == Resampling::Coordinate::tf_crop_and_resize;
    const bool whole = plan[axis].roi_begin == 0.0 && plan[axis].roi_end == 1.0;
    if (plan[axis].identity() && !(crops && !whole)) continue;
    passes.push_back({axis, resample_axis(attributes.how, plan[axis])});
  }
  return passes;
}

// Calls body(element of y) for the elements that lie outside of the input on some axis.
template <class Body>
void for_each_outside(const std::vector<Pass>& passes, const Shape& y_shape, const Body& body) {
  for (const Pass& pass : passes) {
    const Around sizes = around(y_shape, pass.axis);
    const auto length = static_cast<std::int64_t>(pass.points.size());
    for (std::int64_t i = 0; i < length; ++i) {
      if (!pass.points[static_cast<std::size_t>(i)].outside) continue;
      for (std::int64_t outer = 0; outer < sizes.outer; ++outer)
        for (std::int64_t inner = 0; inner < sizes.inner; ++inner)
          body(static_cast<std::size_t>((outer * length + i) * sizes.inner + inner));
    }
  }
}

template <class S>
std::vector<S> resample(const auto& context, std::span<const S> x, Shape shape,
                        const std::vector<Pass>& passes, double extrapolation) {
  std::vector<S> values(x.begin(), x.end());
  for (const Pass& pass : passes) {
    values = resample_one_axis<S>(context, values, shape, pass.axis, pass.points);
    shape[pass.axis] = static_cast<std::int64_t>(pass.points.size());
  }
  for_each_outside(passes, shape, [&](std::size_t i) { values[i] = math::exact<S>(extrapolation); });
  return values;
}

// Any element type: the first tap of every axis.
template <class T>
void gather(std::span<const T> x, Shape shape, const std::vector<Pass>& passes, std::span<T> y,
            const T& extrapolation) {
  std::vector<T> values(x.begin(), x.end());
  for (const Pass& pass : passes) {
    const Around sizes = around(shape, pass.axis);
    const std::int64_t length = shape[pass.axis];
    shape[pass.axis] = static_cast<std::int64_t>(pass.points.size());
    std::vector<T> next(static_cast<std::size_t>(element_count(shape)));
    auto to = next.begin();
    for (std::int64_t outer = 0; outer < sizes.outer; ++outer)
      for (const ResampledPoint& point : pass.points) {
        const auto from = values.begin() + (outer * length + point.taps.at[0]) * sizes.inner;
        to = std::copy(from, from + sizes.inner, to);
      }
    values.swap(next);
  }
  for_each_outside(passes, shape, [&](std::size_t i) { values[i] = extrapolation; });
  std::copy(values.begin(), values.end(), y.begin());
}

// Integers, weighted in double: the result is cut towards zero and kept in the type's range. Where
// the exact number lies within its error of an integer, the one below it may come out as well.
template <class T, class S>
Status resample_integers(KernelContext<S>& context, const std::vector<Pass>& passes, double extrapolation) {
  using Wide = std::conditional_t<std::is_same_v<S, Bounded>, Bounded, double>;
  const auto x = context.tensor(0).template values<T>();
  std::vector<Wide> wide(x.size());
  std::transform(x.begin(), x.end(), wide.begin(), [](T value) { return Wide(static_cast<double>(value)); });
  const std::vector<Wide> values = resample<Wide>(context, wide, context.shape(0), passes, extrapolation);
  const auto cut = [](double value) {
    const double low = static_cast<double>(std::numeric_limits<T>::lowest());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    return std::isnan(value) ? 0.0 : std::trunc(std::fmin(std::fmax(value, low), high));
  };
  const auto as_integer = [](double value) {
    // The largest 64-bit integers have no double: theirs is one above.
    if (value >= 0x1p63 && std::is_signed_v<T>) return std::numeric_limits<T>::max();
    if (value >= 0x1p64) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
  };
  const std::span<T> y = context.tensor_output(0).template mutable_values<T>();
  for (std::size_t i = 0; i < values.size(); ++i) y[i] = as_integer(cut(math::value(values[i])));
  if constexpr (std::is_same_v<S, Bounded>) {
    DRIFTSCOPE_TRY(const std::span<Bounded> bounds, context.bounds_output(0));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = cut(values[i].value);
      const double error = std::fmax(cut(values[i].value + values[i].worst) - value,
                                     value - cut(values[i].value - values[i].worst));
      bounds[i] = Bounded(value, error, error);
    }
  }
  return {};
}

struct Resize {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const ResizeAttributes attributes, read_resize(context.node()));
    const ResizeInputs inputs = resize_inputs(context.node());
    std::vector<Tensor> lists;
    lists.reserve(3);
    const auto list = [&](const std::optional<std::size_t>& index) -> Result<const Tensor*> {
      if (!index) return nullptr;
      lists.push_back(context.tensor(*index));
      if (!is_floating(context.dtype(*index))) return &lists.back();
      DRIFTSCOPE_TRY(lists.back(), Tensor::make(DType::float64, context.shape(*index)));
      const auto numbers = lists.back().mutable_values<double>();
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<double>(math::value(context.real(*index)[i]));
      return &lists.back();
    };
    ResizeValues values;
    DRIFTSCOPE_TRY(values.roi, list(inputs.roi));
    DRIFTSCOPE_TRY(values.scales, list(inputs.scales));
    DRIFTSCOPE_TRY(values.sizes, list(inputs.sizes));
    DRIFTSCOPE_TRY(const auto plan, plan_resize(attributes, context.shape(0), values));
    if (element_count(context.output_shape(0)) == 0) return {};
    const std::vector<Pass> passes = passes_of(attributes, plan);
    const auto extrapolation = static_cast<double>(attributes.extrapolation);

    if (is_floating(context.dtype(0))) {
      const auto result = resample<S>(context, context.real(0), context.shape(0), passes, extrapolation);
      std::copy(result.begin(), result.end(), context.real_output(0).begin());
      return {};
    }
    if (attributes.how.mode != Resampling::Mode::nearest) {
      Status status;
      with_integer(context.dtype(0),
                   [&]<class T>() { status = resample_integers<T>(context, passes, extrapolation); });
      return status;
    }
    constexpr std::array<std::size_t, 1> first = {0};
    move_elements(context, first, 0,
                  [&]<class T>(std::span<const std::span<const T>> sources, std::span<T> target) {
                    T fill{};
                    if constexpr (std::is_integral_v<T>)
                      fill = static_cast<T>(
                          static_cast<std::int64_t>(std::fmin(std::fmax(extrapolation, -0x1p62), 0x1p62)));
                    gather<T>(sources[0], context.shape(0), passes, target, fill);
                  });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Resize>(
      {.op_type = "Resize", .since = 10, .inputs = {1, 4}, .outputs = {1, 1}, .infer = infer}));
  table.add(with_kernels<Resize>(
      {.op_type = "Upsample", .since = 7, .inputs = {1, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::resize
