// DeformConv, opset 19 to 21: a convolution whose taps are moved by offsets (and weighted by a
// mask); moved taps are interpolated linearly, what lies outside counts as 0. Two spatial axes.
//
// Strict definition (float): coordinates and weights of neighbours in double, each product of
// weights rounded to float32; a tap is interpolated, times its mask; one accumulator from B over
// channels, then kernel rows, then columns.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/sampling.hpp"

namespace driftscope::ops::deform_conv {

constexpr std::array<std::string_view, 5> names = {"X", "W", "offset", "B", "mask"};

Result<std::int64_t> read_offset_group(const Node& node) {
  DRIFTSCOPE_TRY(const std::int64_t group, int_attribute(node, "offset_group", 1));
  if (group < 1 || group > (std::int64_t{1} << 20))
    return bad_input(fmt::format("attribute offset_group: expected at least 1, got {}", group));
  return group;
}

// Input `index` is [N, groups·taps·per_tap, out_h, out_w] as far as that is known.
Status check_field(const InferContext& context, std::size_t index, const SymbolicShape& y,
                   std::int64_t channels) {
  if (!context.has_input(index) || !context.input(index).shape) return {};
  const SymbolicShape& shape = *context.input(index).shape;
  const SymbolicShape wanted = {y[0], known_dimension(channels), y[2], y[3]};
  bool fits = shape.size() == 4;
  for (std::size_t i = 0; fits && i < 4; ++i) fits = unify(shape[i], wanted[i]).has_value();
  if (fits) return {};
  return bad_input(fmt::format("{}: expected shape {}, got {}", input_label(index, names[index]),
                               shape_text(wanted), shape_text(shape)));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  if (context.input(0).shape && context.input(0).shape->size() != 4)
    return unsupported(
        fmt::format("input 0 (X): DeformConv is supported for two spatial axes, got "
                    "shape {}",
                    shape_text(*context.input(0).shape)));
  DRIFTSCOPE_TRY(auto y, infer_convolution(context, {0, 1, 3, {"X", "W", "B"}}));
  DRIFTSCOPE_TRY(const std::int64_t groups, read_offset_group(context.node()));
  const auto w = concrete_shape(context.input(1).shape);
  if (y && w && y->size() == 4) {
    const auto taps = checked_product(Shape{groups, (*w)[2], (*w)[3], 2});
    if (!taps) return bad_input("the number of offsets overflows");
    DRIFTSCOPE_CHECK(check_field(context, 2, *y, *taps));
    DRIFTSCOPE_CHECK(check_field(context, 4, *y, *taps / 2));
    if (context.input(0).shape && (*context.input(0).shape)[1].known() &&
        (*context.input(0).shape)[1].size % groups != 0)
      return bad_input(
          fmt::format("attribute offset_group: the {} channels of X cannot be cut into "
                      "{} groups",
                      (*context.input(0).shape)[1].size, groups));
  }
  return std::vector{TensorType{dtype, std::move(y)}};
}

template <class T, class S>
T between(const SamplePoint& point, std::int64_t height, std::int64_t width, const S* x) {
  WeightedSum<T> sum(2);
  const double y_floor = std::floor(point.at[0]);
  const double x_floor = std::floor(point.at[1]);
  if (!(y_floor >= -1.0 && y_floor < static_cast<double>(height) && x_floor >= -1.0 &&
        x_floor < static_cast<double>(width)))
    return sum.result();
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const std::int64_t row = static_cast<std::int64_t>(y_floor) + i;
      const std::int64_t column = static_cast<std::int64_t>(x_floor) + j;
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const double down = point.at[0] - y_floor;
      const double right = point.at[1] - x_floor;
      sum.add((i == 0 ? 1.0 - down : down) * (j == 0 ? 1.0 - right : right),
              element_as<T>(x[row * width + column]));
    }
  return sum.result();
}

struct DeformConv {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x_shape = context.shape(0);
    const Shape& w_shape = context.shape(1);
    DRIFTSCOPE_TRY(const WindowAttributes window,
                   read_window(context.node(), Ints(w_shape.begin() + 2, w_shape.end())));
    DRIFTSCOPE_TRY(const auto axes, place_windows(window, std::span(x_shape).subspan(2)));
    DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
    DRIFTSCOPE_TRY(const std::int64_t offset_groups, read_offset_group(context.node()));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const WindowAxis& rows = axes[0];
    const WindowAxis& columns = axes[1];
    const std::int64_t taps = rows.kernel * columns.kernel;
    const std::int64_t plane = rows.output * columns.output;
    const std::int64_t channels = x_shape[1];
    const std::int64_t outputs = w_shape[0];
    const std::int64_t depth = w_shape[1];  // channels of X per group
    const std::span<const S> offsets = context.real(2);
    const std::span<const S> mask = context.has_input(4) ? context.real(4) : std::span<const S>();

    // One output point after another: its moved taps serve all output channels.
    context.parallel_for(x_shape[0] * plane, 16, [&](std::int64_t begin, std::int64_t end) {
      std::vector<S> moved(static_cast<std::size_t>(channels * taps));
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t n = item / plane;
        const std::int64_t o = item % plane;
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t k = 0; k < taps; ++k) {
            const std::int64_t field = (n * offset_groups + c / (channels / offset_groups)) * taps + k;
            const auto offset = [&](std::int64_t part) {
              return offsets[static_cast<std::size_t>((field * 2 + part) * plane + o)];
            };
            SamplePoint point;
            point.axes = 2;
            const std::array<std::int64_t, 2> regular = {rows.at(o / columns.output, k / columns.kernel),
                                                         columns.at(o % columns.output, k % columns.kernel)};
            for (std::size_t i = 0; i < 2; ++i) {
              const S given = offset(static_cast<std::int64_t>(i));
              point.at[i] = static_cast<double>(regular[i]) + static_cast<double>(math::value(given));
              if constexpr (std::is_same_v<S, Bounded>)
                point.error[i] =
                    given.worst + (given.value == 0.0 ? 0.0 : unit_roundoff_f32 * std::fabs(point.at[i]));
            }
            const S* x = context.real(0).data() + (n * channels + c) * rows.input * columns.input;
            S tap = sample_at<S>(point, [&]<class T>(const SamplePoint& p) {
              return between<T>(p, rows.input, columns.input, x);
            });
            if (!mask.empty()) tap = tap * mask[static_cast<std::size_t>(field * plane + o)];
            moved[static_cast<std::size_t>(c * taps + k)] = tap;
          }
        for (std::int64_t m = 0; m < outputs; ++m) {
          Sum<S> sum(context.has_input(3) ? context.real(3)[static_cast<std::size_t>(m)]
                                          : math::exact<S>(0.0));
          const std::int64_t first = m / (outputs / group) * depth * taps;
          for (std::int64_t i = 0; i < depth * taps; ++i)
            sum.add_product(context.real(1)[static_cast<std::size_t>(m * depth * taps + i)],
                            moved[static_cast<std::size_t>(first + i)]);
          y[static_cast<std::size_t>((n * outputs + m) * plane + o)] = sum.result();
        }
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<DeformConv>(
      {.op_type = "DeformConv", .since = 19, .inputs = {3, 5}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::deform_conv
