// ConvTranspose, opset 1 to 21: any number of spatial axes, groups, dilations, strides, auto_pad,
// output_padding, output_shape (which then decides the padding).
//
// Strict definition (float): each output is one accumulator that starts at B (at +0 without B) and
// adds w·x for channels of the group ascending, then taps of the kernel in row-major order; taps
// that hit no element are left out.
#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/ops/shared/exact_convolution.hpp"
#include "core/ops/shared/transposed_window.hpp"

namespace driftscope::ops::conv_transpose {

constexpr std::array<std::string_view, 3> names = {"X", "W", "B"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 3, 34));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "W", 3, 34));
  DRIFTSCOPE_CHECK(expect_rank(context, 2, "B", 1, 1));
  const auto& x = context.input(0).shape;
  const auto& w = context.input(1).shape;
  DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
  if (w && (*w)[0].known() && (*w)[0].size % group != 0)
    return bad_input(
        fmt::format("input 1 (W): {} channels cannot be cut into {} groups", (*w)[0].size, group));
  if (!x) return std::vector{TensorType{dtype, std::nullopt}};
  if (w && x->size() != w->size())
    return bad_input(fmt::format("input 1 (W): expected rank {} as input 0 (X) has, got shape {}", x->size(),
                                 shape_text(*w)));
  DRIFTSCOPE_TRY(const auto kernel, kernel_shape(context.node(), w));
  SymbolicShape y = unknown_shape(x->size());
  y[0] = (*x)[0];
  if (w) {
    if (!unify((*w)[0], (*x)[1]))
      return bad_input(
          fmt::format("input 1 (W): expected {} on axis 0 as input 0 (X) has channels, "
                      "got shape {}",
                      (*x)[1].size, shape_text(*w)));
    if ((*w)[1].known()) {
      const auto channels = checked_mul((*w)[1].size, group);
      if (!channels) return bad_input("input 1 (W): the number of output channels overflows");
      y[1] = known_dimension(*channels);
    }
  }
  if (context.has_input(2) && context.input(2).shape) {
    const auto channels = unify(y[1], context.input(2).shape->front());
    if (!channels)
      return bad_input(
          fmt::format("input 2 (B): expected {} elements as W has output channels, got "
                      "shape {}",
                      y[1].size, shape_text(*context.input(2).shape)));
    y[1] = *channels;
  }
  if (kernel) {
    if (kernel->size() + 2 != x->size())
      return bad_input(
          fmt::format("attribute kernel_shape: expected {} values, got {}", x->size() - 2, kernel->size()));
    // An axis of unknown size is inferred as if its size were 1, and then set to unknown.
    Shape spatial;
    for (std::size_t i = 2; i < x->size(); ++i)
      spatial.push_back((*x)[i].known() ? (*x)[i].size : std::int64_t{1} << 20);
    DRIFTSCOPE_TRY(const auto axes, place_transposed(context.node(), *kernel, spatial));
    const bool fixed = context.node().attribute("output_shape") != nullptr;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if ((*x)[i + 2].known() || fixed) y[i + 2] = known_dimension(axes[i].output);
  }
  return std::vector{TensorType{dtype, std::move(y)}};
}

// Outputs of a row grouped by their remainder modulo the stride: those with the same remainder read
// consecutive inputs.
class Phases {
 public:
  explicit Phases(const TransposedAxis& axis)
      : axis_(axis), whole_(axis.output / axis.stride), rest_(axis.output % axis.stride) {}

  [[nodiscard]] std::int64_t position(std::int64_t o) const {
    return first(o % axis_.stride) + o / axis_.stride;
  }
  /// Calls body(begin, end, input): the positions that tap k reaches, and the input of the first.
  template <class Body>
  void tap(std::int64_t k, const Body& body) const {
    const std::int64_t shift = k * axis_.dilation - axis_.pad;  // o = i·stride + shift
    const std::int64_t stride = axis_.stride;
    const std::int64_t first_i = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    if (first_i >= axis_.input) return;
    const std::int64_t o = first_i * stride + shift;
    if (o >= axis_.output) return;
    const std::int64_t count = std::min(axis_.input - first_i, (axis_.output - 1 - o) / stride + 1);
    const std::int64_t begin = position(o);
    body(begin, begin + count, first_i);
  }

 private:
  [[nodiscard]] std::int64_t first(std::int64_t phase) const {
    return phase * whole_ + std::min(phase, rest_);
  }
  const TransposedAxis& axis_;
  std::int64_t whole_;
  std::int64_t rest_;
};

// Taps of an output row that are fixed along it: where they lie in one channel of X and of W.
void row_taps(std::span<const TransposedAxis> outer, std::int64_t row, std::int64_t rows,
              const TransposedAxis& last, std::vector<RowTap>& taps) {
  taps.assign(1, RowTap{0, 0});
  std::vector<RowTap> next;
  for (const TransposedAxis& axis : outer) {
    rows /= axis.output;
    const std::int64_t o = row / rows % axis.output;
    next.clear();
    for (const RowTap& tap : taps)
      for (std::int64_t k = 0; k < axis.kernel; ++k)
        if (const std::int64_t i = axis.source(o, k); i >= 0)
          next.push_back({tap.input * axis.input + i, tap.weight * axis.kernel + k});
    taps.swap(next);
  }
  for (RowTap& tap : taps) {
    tap.input *= last.input;
    tap.weight *= last.kernel;
  }
}

// With strides of 1 it is a Conv whose weights are turned round and whose channels are exchanged, and exact
// factors are multiplied as Conv's are, as matrices. False: it is not, or the matrices would be mostly empty.
template <class S>
bool convolved_exactly(const KernelContext<S>& context, std::span<const TransposedAxis> axes,
                       std::int64_t group, std::span<const S> bias, std::span<S> y) {
  const Shape& x_shape = context.shape(0);
  const Shape& w_shape = context.shape(1);
  const std::int64_t channels = x_shape[1] / group, group_outputs = w_shape[1];
  if (group_outputs < exact_rows) return false;
  std::vector<WindowAxis> windows;
  std::int64_t taps = 1;
  for (const TransposedAxis& axis : axes) {
    if (axis.stride != 1) return false;
    windows.push_back({.input = axis.input,
                       .kernel = axis.kernel,
                       .dilation = axis.dilation,
                       .pad_begin = (axis.kernel - 1) * axis.dilation - axis.pad,
                       .output = axis.output});
    taps *= axis.kernel;
  }
  Shape turned_shape = {group * group_outputs, channels};
  turned_shape.insert(turned_shape.end(), w_shape.begin() + 2, w_shape.end());
  const ConvolutionLayout layout(std::move(windows), x_shape, turned_shape, group);
  bool done = false;
  with_equal_exact_factors(context, 0, 1, [&](auto x, auto w) {
    if (!all_finite(w)) return;  // a padded 0 times infinity is not 0
    using T = typename decltype(w)::value_type;
    std::vector<T> turned(w.size());
    for (std::int64_t m = 0; m < group * group_outputs; ++m)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t from = (m / group_outputs * channels + c) * group_outputs + m % group_outputs;
        std::reverse_copy(w.data() + from * taps, w.data() + (from + 1) * taps,
                          turned.data() + (m * channels + c) * taps);
      }
    if constexpr (!std::is_same_v<S, float>)
      convolve_exactly(context, layout, x_shape[0], group, x, std::span<const T>(turned), bias, y);
    done = true;
  });
  return done;
}

struct ConvTranspose {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x_shape = context.shape(0);
    const Shape& w_shape = context.shape(1);
    DRIFTSCOPE_TRY(const auto axes, place_transposed(context.node(), Ints(w_shape.begin() + 2, w_shape.end()),
                                                     std::span(x_shape).subspan(2)));
    DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const TransposedAxis& last = axes.back();
    const auto outer = std::span(axes).first(axes.size() - 1);
    std::int64_t x_plane = 1;
    std::int64_t w_plane = 1;
    std::int64_t rows = 1;
    for (const TransposedAxis& axis : axes) {
      x_plane *= axis.input;
      w_plane *= axis.kernel;
    }
    for (const TransposedAxis& axis : outer) rows *= axis.output;
    const std::int64_t channels = x_shape[1] / group;  // of X per group
    const std::int64_t group_outputs = w_shape[1];
    const std::int64_t outputs = group * group_outputs;
    const std::span<const S> bias = context.has_input(2) ? context.real(2) : std::span<const S>();

    if (convolved_exactly(context, axes, group, bias, y)) return {};

    const Phases phases(last);
    const std::int64_t width = last.output;
    std::vector<std::int64_t> reached(static_cast<std::size_t>(width), 0);  // number of taps per output
    for (std::int64_t k = 0; k < last.kernel; ++k)
      phases.tap(k, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i) ++reached[static_cast<std::size_t>(i)];
      });

    with_dot_elements<S>(context.real(0), context.real(1), [&]<class Sums>(const auto* x, const auto* w) {
      const auto add_row = [&](Sums& sums, const std::vector<RowTap>& taps, const auto* x_group,
                               const auto* w_group) {
        for (std::int64_t c = 0; c < channels; ++c)
          for (const RowTap& tap : taps)
            for (std::int64_t k = 0; k < last.kernel; ++k)
              phases.tap(k, [&](std::int64_t begin, std::int64_t end, std::int64_t i) {
                sums.add_products(begin, end, w_group[c * group_outputs * w_plane + tap.weight + k],
                                  x_group + c * x_plane + tap.input + i, 1);
              });
      };
      context.parallel_for(x_shape[0] * outputs * rows, dot_grain(width * channels * w_plane),
                           [&](std::int64_t begin, std::int64_t end) {
                             Sums sums(width);
                             std::vector<RowTap> taps;
                             for (std::int64_t item = begin; item < end; ++item) {
                               const std::int64_t m = item / rows % outputs;
                               const std::int64_t n = item / rows / outputs;
                               const std::int64_t first_channel = m / group_outputs * channels;
                               row_taps(outer, item % rows, rows, last, taps);
                               sums.clear();
                               if (!bias.empty())
                                 for (std::int64_t o = 0; o < width; ++o)
                                   sums.start(o, bias[static_cast<std::size_t>(m)]);
                               add_row(sums, taps, x + (n * x_shape[1] + first_channel) * x_plane,
                                       w + (first_channel * group_outputs + m % group_outputs) * w_plane);
                               const std::int64_t products =
                                   channels * static_cast<std::int64_t>(taps.size());
                               for (std::int64_t o = 0; o < width; ++o) {
                                 const std::int64_t at = phases.position(o);
                                 y[static_cast<std::size_t>(item * width + o)] =
                                     sums.result(at, products * reached[static_cast<std::size_t>(at)]);
                               }
                             }
                           });
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<ConvTranspose>(
      {.op_type = "ConvTranspose", .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::conv_transpose
