// GridSample, opset 16 to 21: X at the points of a grid in [−1, 1], by nearest (ties to even),
// linear or cubic (a = −0.75) interpolation; two spatial axes, from opset 20 up to four.
//
// Strict definition (float): coordinates and weights in double, each product of weights rounded to
// float32; one accumulator over the neighbours in row-major order.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/sampling.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::grid_sample {

enum class Mode { nearest, linear, cubic };
enum class Padding { zeros, border, reflection };

struct GridAttributes {
  Mode mode = Mode::linear;
  Padding padding = Padding::zeros;
  bool align_corners = false;
};

Result<GridAttributes> read(const Node& node) {
  GridAttributes result;
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(node, "mode", "linear"));
  if (mode == "nearest")
    result.mode = Mode::nearest;
  else if (mode == "cubic" || mode == "bicubic")
    result.mode = Mode::cubic;
  else if (mode != "linear" && mode != "bilinear")
    return bad_input(fmt::format(
        "attribute mode: expected linear (bilinear), nearest or cubic (bicubic), got '{}'", mode));
  DRIFTSCOPE_TRY(const std::string padding, string_attribute(node, "padding_mode", "zeros"));
  if (padding == "border")
    result.padding = Padding::border;
  else if (padding == "reflection")
    result.padding = Padding::reflection;
  else if (padding != "zeros")
    return bad_input(
        fmt::format("attribute padding_mode: expected zeros, border or reflection, got '{}'", padding));
  DRIFTSCOPE_TRY(result.align_corners, flag_attribute(node, "align_corners", false));
  return result;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_kind(context, 1, "grid", Kinds::floating));
  DRIFTSCOPE_TRY([[maybe_unused]] const GridAttributes attributes, read(context.node()));
  const std::size_t max_rank = context.opset() < 20 ? 4 : 2 + max_sampled_axes;
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", context.opset() < 20 ? 4 : 3, max_rank));
  const auto& x = context.input(0).shape;
  const auto& grid = context.input(1).shape;
  TensorType y{context.input(0).dtype, std::nullopt};
  if (!x || !grid) return std::vector{std::move(y)};
  if (grid->size() != x->size())
    return bad_input(
        fmt::format("input 1 (grid): expected rank {} as X has, got shape {}", x->size(), shape_text(*grid)));
  const auto batch = unify((*x)[0], (*grid)[0]);
  const auto spatial = static_cast<std::int64_t>(x->size()) - 2;
  if (!batch || (grid->back().known() && grid->back().size != spatial))
    return bad_input(
        fmt::format("input 1 (grid): expected {} on axis 0 and {} on the last, got "
                    "shape {}",
                    (*x)[0].size, spatial, shape_text(*grid)));
  y.shape = *grid;
  y.shape->pop_back();
  y.shape->insert(y.shape->begin() + 1, (*x)[1]);
  y.shape->front() = *batch;
  return std::vector{std::move(y)};
}

/// One spatial axis.
struct GridAxis {
  std::int64_t size = 1;
  double low = 0.0;  ///< where reflection turns around
  double high = 0.0;
  bool align_corners = false;

  GridAxis() = default;
  GridAxis(std::int64_t size_, bool align) : size(size_), align_corners(align) {
    low = align ? 0.0 : -0.5;
    high = static_cast<double>(size) + (align ? -1.0 : -0.5);
  }

  template <class T>
  [[nodiscard]] T coordinate(T x) const {
    const auto length = static_cast<T>(size);
    if (align_corners) return (x + T(1)) / T(2) * (length - T(1));
    return ((x + T(1)) * length - T(1)) / T(2);
  }
  // If the formula is exact in float32, ties are certain.
  [[nodiscard]] double coordinate_error(double x) const {
    const double at = coordinate(x);
    if (static_cast<double>(coordinate(static_cast<float>(x))) == at) return 0.0;
    const auto length = static_cast<double>(size);
    return 3.0 * unit_roundoff_f32 * ((std::fabs(x) + 1.0) * length + 1.0);
  }

  [[nodiscard]] double reflected(double x) const {
    const double range = high - low;
    if (!(range > 0.0)) return low;
    const double beyond = x < low ? low - x : x > high ? x - high : 0.0;
    if (beyond == 0.0) return x;
    const double turns = std::floor(beyond / range);
    const double rest = beyond - turns * range;
    const bool even = std::fmod(turns, 2.0) == 0.0;
    if (x < low) return even ? low + rest : high - rest;
    return even ? high - rest : low + rest;
  }
  // The coordinate that replaces a point beyond the ends.
  [[nodiscard]] double inside(double x, Padding padding) const {
    if (x >= low && x <= high) return x;
    if (padding == Padding::border) return std::fmin(std::fmax(x, 0.0), static_cast<double>(size) - 1.0);
    return padding == Padding::reflection ? reflected(x) : x;
  }
  // The element at an integral coordinate; −1 stands for 0.
  [[nodiscard]] std::int64_t element(double x, Padding padding) const {
    const double last = static_cast<double>(size) - 1.0;
    if (padding == Padding::reflection)
      x = std::trunc(reflected(x));
    else if (padding == Padding::zeros && !(x >= 0.0 && x <= last))
      return -1;
    return static_cast<std::int64_t>(std::fmin(std::fmax(x, 0.0), last));
  }
};

struct Neighbours {
  std::array<std::int64_t, 4> at{};
  std::array<double, 4> weight{};
  int count = 1;
};

Neighbours neighbours(const GridAxis& axis, const GridAttributes& how, double x) {
  Neighbours result;
  // Far outside, or for NaN, the neighbours are the same as just outside the plane.
  const double reach = 4.0 * static_cast<double>(axis.size) + 4.0;
  if (how.padding != Padding::reflection) x = std::fmin(std::fmax(x, -reach), reach);
  if (!std::isfinite(x)) x = -reach;
  if (how.mode == Mode::nearest) x = std::nearbyint(x);
  x = axis.inside(x, how.padding);
  const double floor = std::floor(x);
  if (how.mode == Mode::nearest) {
    result.at[0] = axis.element(floor, how.padding);
    result.weight[0] = 1.0;
  } else if (how.mode == Mode::linear) {
    result.count = 2;
    result.weight = {1.0 - (x - floor), x - floor, 0.0, 0.0};
    for (int i = 0; i < 2; ++i) result.at[static_cast<std::size_t>(i)] = axis.element(floor + i, how.padding);
  } else {
    result.count = 4;
    result.weight = cubic_weights(x - floor, -0.75);
    for (int i = 0; i < 4; ++i)
      result.at[static_cast<std::size_t>(i)] = axis.element(floor + i - 1, how.padding);
  }
  return result;
}

using Axes = std::array<GridAxis, max_sampled_axes>;

// The neighbours of a point along every axis.
struct Cell {
  std::array<Neighbours, max_sampled_axes> axes;

  Cell(const Axes& grid, const GridAttributes& how, const SamplePoint& point) {
    for (std::size_t i = 0; i < point.axes; ++i) axes[i] = neighbours(grid[i], how, point.at[i]);
  }

  // Calls body(weight, offset) in row-major order, the offset −1 for what counts as 0.
  template <class Body>
  void visit(const Axes& grid, std::size_t count, const Body& body, std::size_t axis = 0, double weight = 1.0,
             std::int64_t offset = 0) const {
    if (axis == count) return body(weight, offset);
    for (int i = 0; i < axes[axis].count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t element = axes[axis].at[at];
      const bool outside = offset < 0 || element < 0;
      visit(grid, count, body, axis + 1, weight * axes[axis].weight[at],
            outside ? -1 : offset * grid[axis].size + element);
    }
  }
};

template <class T, class S>
T interpolate(const Axes& grid, const GridAttributes& how, const SamplePoint& point, const S* x) {
  const Cell cell(grid, how, point);
  if (how.mode == Mode::nearest) {
    T result = math::exact<T>(0.0);
    cell.visit(grid, point.axes, [&](double, std::int64_t offset) {
      if (offset >= 0) result = element_as<T>(x[offset]);
    });
    return result;
  }
  WeightedSum<T> sum(point.axes);
  double size = 0.0;
  cell.visit(grid, point.axes, [&](double weight, std::int64_t offset) {
    if (offset < 0) return;
    sum.add(weight, element_as<T>(x[offset]));
    if constexpr (std::is_same_v<T, Bounded>) size += std::fabs(x[offset].value) + x[offset].worst;
  });
  T result = sum.result();
  if constexpr (std::is_same_v<T, Bounded>) {
    // Cubic weights cancel from larger terms.
    const double weighting = how.mode == Mode::cubic ? 32.0 * unit_roundoff_f32 * size : 0.0;
    result.worst += weighting;
    result.likely += weighting;
    result.systematic += weighting;
  }
  return result;
}

struct GridSample {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const GridAttributes how, read(context.node()));
    const Shape& x_shape = context.shape(0);
    const std::span<const S> grid = context.real(1);
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const std::size_t count = x_shape.size() - 2;
    Axes axes;
    std::int64_t plane = 1;
    for (std::size_t i = 0; i < count; ++i) {
      axes[i] = GridAxis(x_shape[i + 2], how.align_corners);
      plane *= x_shape[i + 2];
    }
    if (plane == 0) return bad_input("input 0 (X): its planes are empty, nothing can be sampled");
    const std::int64_t channels = x_shape[1];
    const std::int64_t points = element_count(std::span(context.output_shape(0)).subspan(2));
    context.parallel_for(x_shape[0] * points, 256, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        SamplePoint point;
        point.axes = count;
        for (std::size_t i = 0; i < count; ++i) {
          // The last number of a grid point belongs to the first axis.
          const S& given = grid[static_cast<std::size_t>(item) * count + (count - 1 - i)];
          const auto value = static_cast<double>(math::value(given));
          point.at[i] = axes[i].coordinate(value);
          if constexpr (std::is_same_v<S, Bounded>)
            point.error[i] =
                axes[i].coordinate_error(value) + given.worst * static_cast<double>(axes[i].size);
        }
        for (std::int64_t c = 0; c < channels; ++c) {
          const S* x = context.real(0).data() + (item / points * channels + c) * plane;
          y[static_cast<std::size_t>((item / points * channels + c) * points + item % points)] = sample_at<S>(
              point, [&]<class T>(const SamplePoint& p) { return interpolate<T>(axes, how, p, x); });
        }
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<GridSample>(
      {.op_type = "GridSample", .since = 16, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::grid_sample
