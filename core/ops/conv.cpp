// Conv, opset 1 to 21: any number of spatial axes, groups, dilations, strides, auto_pad.
//
// Strict definition (float): each output is one accumulator that starts at B (at +0 without B) and
// adds w·x in the order of W's memory: channel, then kernel row, then kernel column. Taps in the
// padding are left out. A SIMD kernel that multiplies a padded 0 instead must still give these bits:
// adding +0 or −0 alters only an accumulator of −0, and 0·w alters more where w is infinite or NaN.
#include <fmt/format.h>

#include <array>

#include "core/base/checked.hpp"
#include "core/ops/support/dot.hpp"
#include "core/ops/support/exact_factors.hpp"
#include "core/ops/support/shape_rules.hpp"
#include "core/ops/support/window.hpp"

namespace driftscope {
namespace {

constexpr std::array<std::string_view, 3> names = {"X", "W", "B"};

// The kernel's shape from the attribute and W, which must agree; nothing while neither is known.
Result<std::optional<Ints>> kernel_shape(const Node& node, const std::optional<SymbolicShape>& w) {
  DRIFTSCOPE_TRY(Ints kernel, ints_attribute(node, "kernel_shape", {}));
  if (!w) return kernel.empty() ? std::optional<Ints>() : std::optional<Ints>(std::move(kernel));
  const std::size_t rank = w->size() - 2;
  const bool given = node.attribute("kernel_shape") != nullptr;
  if (!given) kernel.assign(rank, -1);
  if (kernel.size() != rank)
    return bad_input(fmt::format("attribute kernel_shape: expected {} values as W has, got {}",
                                 rank, kernel.size()));
  for (std::size_t i = 0; i < rank; ++i) {
    const Dimension& size = (*w)[i + 2];
    if (given && size.known() && size.size != kernel[i])
      return bad_input(fmt::format("attribute kernel_shape: expected {} on axis {} as W has, got {}",
                                   size.size, i, kernel[i]));
    if (!given) kernel[i] = size.size;
    if (!given && !size.known()) return std::optional<Ints>();
  }
  return std::optional<Ints>(std::move(kernel));
}

Result<std::int64_t> read_group(const Node& node) {
  DRIFTSCOPE_TRY(const std::int64_t group, int_attribute(node, "group", 1));
  if (group < 1 || group > (std::int64_t{1} << 31))
    return bad_input(fmt::format("attribute group: expected at least 1, got {}", group));
  return group;
}

Status check_channels(const Dimension& x, const SymbolicShape& w, std::int64_t group) {
  if (w[1].known() && x.known()) {
    const auto expected = checked_mul(w[1].size, group);
    if (!expected || *expected != x.size)
      return bad_input(fmt::format(
          "input 1 (W): {} channels × group {} must equal the {} channels of input 0 (X)",
          w[1].size, group, x.size));
  }
  if (w[0].known() && w[0].size % group != 0)
    return bad_input(fmt::format("input 1 (W): {} output channels cannot be cut into {} groups",
                                 w[0].size, group));
  return {};
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 3, 34));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "W", 3, 34));
  DRIFTSCOPE_CHECK(expect_rank(context, 2, "B", 1, 1));
  const auto& x = context.input(0).shape;
  const auto& w = context.input(1).shape;
  if (x && w && x->size() != w->size())
    return bad_input(fmt::format("input 1 (W): expected rank {} as input 0 (X) has, got shape {}",
                                 x->size(), shape_text(*w)));
  DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
  DRIFTSCOPE_TRY(const auto kernel, kernel_shape(context.node(), w));
  if (kernel && x && kernel->size() + 2 != x->size())
    return bad_input(fmt::format("attribute kernel_shape: expected {} values, got {}",
                                 x->size() - 2, kernel->size()));
  if (x && w) DRIFTSCOPE_CHECK(check_channels((*x)[1], *w, group));
  if (!x && !kernel) return std::vector{TensorType{dtype, std::nullopt}};

  SymbolicShape y = unknown_shape(x ? x->size() : kernel->size() + 2);
  if (x) y[0] = (*x)[0];
  if (w) y[1] = (*w)[0];
  if (context.has_input(2) && context.input(2).shape) {
    const auto channels = unify(y[1], context.input(2).shape->front());
    if (!channels)
      return bad_input(fmt::format("input 2 (B): expected {} elements as W has output channels, "
                                   "got shape {}",
                                   y[1].size, shape_text(*context.input(2).shape)));
    y[1] = *channels;
  }
  if (kernel) {
    DRIFTSCOPE_TRY(const WindowAttributes window, read_window(context.node(), *kernel));
    for (std::size_t axis = 0; axis < kernel->size(); ++axis)
      if (x) { DRIFTSCOPE_TRY(y[axis + 2], window_output(window, axis, (*x)[axis + 2])); }
  }
  return std::vector{TensorType{dtype, std::move(y)}};
}

// Where the taps of one output row lie that are fixed along it: all kernel axes but the last.
struct RowTap {
  std::int64_t input;   // offset in one channel of X
  std::int64_t weight;  // offset in one channel of W
};

// Sizes and windows; the last spatial axis is the row along which outputs are computed together.
class Layout {
 public:
  Layout(std::vector<WindowAxis> axes, const Shape& x, const Shape& w, std::int64_t group)
      : channels(w[1]),
        outputs(w[0]),
        group_outputs(std::max<std::int64_t>(1, w[0] / group)),
        x_channels(x[1]),
        axes_(std::move(axes)) {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      x_plane *= axes_[i].input;
      w_plane *= axes_[i].kernel;
      if (i + 1 < axes_.size()) rows *= axes_[i].output;
    }
  }

  const WindowAxis& last() const { return axes_.back(); }

  // Taps of output row `row` that hit the input, in the order of W's memory.
  void row_taps(std::int64_t row, std::vector<RowTap>& taps) const {
    taps.assign(1, RowTap{0, 0});
    std::int64_t below = rows;
    std::vector<RowTap> next;
    for (std::size_t i = 0; i + 1 < axes_.size(); ++i) {
      const WindowAxis& axis = axes_[i];
      below /= axis.output;
      const std::int64_t o = row / below % axis.output;
      next.clear();
      for (const RowTap& tap : taps)
        for (std::int64_t k = axis.tap_begin(o); k < axis.tap_end(o); ++k)
          next.push_back({tap.input * axis.input + axis.at(o, k), tap.weight * axis.kernel + k});
      taps.swap(next);
    }
    for (RowTap& tap : taps) {
      tap.input *= last().input;
      tap.weight *= last().kernel;
    }
  }

  std::int64_t channels;       // of X per group
  std::int64_t outputs;        // channels of Y
  std::int64_t group_outputs;  // channels of Y per group
  std::int64_t x_channels;
  std::int64_t x_plane = 1;    // elements of one channel
  std::int64_t w_plane = 1;
  std::int64_t rows = 1;       // output rows per channel

  const std::vector<WindowAxis>& axes() const { return axes_; }

 private:
  std::vector<WindowAxis> axes_;
};

template <class Sums>
void add_row(Sums& sums, const Layout& layout, const std::vector<RowTap>& taps,
             const typename Sums::Element* x, const typename Sums::Element* w) {
  const WindowAxis& last = layout.last();
  for (std::int64_t c = 0; c < layout.channels; ++c)
    for (const RowTap& tap : taps)
      for (std::int64_t k = 0; k < last.kernel; ++k) {
        const std::int64_t begin = last.first_window_from(k, 0);
        const std::int64_t end = last.first_window_from(k, last.input);
        if (begin >= end) continue;
        sums.add_products(begin, end, w[c * layout.w_plane + tap.weight + k],
                          x + c * layout.x_plane + tap.input + last.at(begin, k), last.stride);
      }
}

// Outputs [first, first + count) of a plane, in pieces that lie in one row: where tap `tap` of the
// kernel meets the input, in the order of the outputs; 0 in the padding.
class TapColumns {
 public:
  TapColumns(const Layout& layout, std::int64_t first, std::int64_t count) : layout_(layout) {
    const std::int64_t width = layout.last().output;
    for (std::int64_t o = first; o < first + count;) {
      const std::int64_t end = std::min(first + count, (o / width + 1) * width);
      pieces_.push_back({o / width, o % width, end - o});
      o = end;
    }
  }

  void copy(const double* channel, std::int64_t tap, double* out) const {
    const WindowAxis& last = layout_.last();
    const std::int64_t k = tap % last.kernel;
    const std::int64_t inside_begin = last.first_window_from(k, 0);
    const std::int64_t inside_end = last.first_window_from(k, last.input);
    for (const Piece& piece : pieces_) {
      std::int64_t offset = 0;
      const bool in_row = row_offset(piece.row, tap / last.kernel, offset);
      const std::int64_t piece_end = piece.begin + piece.count;
      const std::int64_t begin = in_row ? std::clamp(inside_begin, piece.begin, piece_end) : piece_end;
      const std::int64_t end = std::clamp(inside_end, begin, piece_end);
      out = std::fill_n(out, begin - piece.begin, 0.0);
      if (begin < end) {
        const double* x = channel + offset * last.input + last.at(begin, k);
        for (std::int64_t o = begin; o < end; ++o, x += last.stride) *out++ = *x;
      }
      out = std::fill_n(out, piece_end - end, 0.0);
    }
  }

 private:
  struct Piece {
    std::int64_t row;
    std::int64_t begin;  // on the last axis
    std::int64_t count;
  };

  // Row of the input under all axes but the last; false: it lies in the padding.
  bool row_offset(std::int64_t row, std::int64_t tap, std::int64_t& offset) const {
    const auto& axes = layout_.axes();
    std::int64_t below = 1;
    for (std::size_t i = axes.size() - 1; i-- > 0;) {
      const std::int64_t at = axes[i].at(row % axes[i].output, tap % axes[i].kernel);
      if (at < 0 || at >= axes[i].input) return false;
      offset += at * below;
      below *= axes[i].input;
      row /= axes[i].output;
      tap /= axes[i].kernel;
    }
    return true;
  }

  const Layout& layout_;
  std::vector<Piece> pieces_;
};

// Taps of each output that lie inside the input, in one channel.
std::vector<std::int64_t> taps_inside(const Layout& layout) {
  std::vector<std::int64_t> counts(1, 1);
  for (const WindowAxis& axis : layout.axes()) {
    std::vector<std::int64_t> next;
    next.reserve(counts.size() * static_cast<std::size_t>(axis.output));
    for (const std::int64_t count : counts)
      for (std::int64_t o = 0; o < axis.output; ++o)
        next.push_back(count * (axis.tap_end(o) - axis.tap_begin(o)));
    counts.swap(next);
  }
  return counts;
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}
bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

// Output channels of a block: its sums stay in the second-level cache.
constexpr std::int64_t block_channels = 128;

// Over factors without error, as a product of W and the matrix of taps.
template <class S, class W>
void convolve_exactly(const KernelContext<S>& context, const Layout& layout, std::int64_t samples,
                      std::int64_t groups, std::span<const double> x, std::span<const W> w,
                      std::span<const S> bias, std::span<S> y) {
  const std::int64_t plane = layout.rows * layout.last().output;
  const std::int64_t depth = layout.channels * layout.w_plane;
  const std::int64_t columns = (plane + exact_columns - 1) / exact_columns;
  const std::int64_t blocks = (layout.group_outputs + block_channels - 1) / block_channels;
  const std::vector<std::int64_t> inside = taps_inside(layout);
  context.parallel_for(samples * groups * blocks * columns, 1, [&](std::int64_t begin,
                                                                   std::int64_t end) {
    ExactBlock block;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t first = item % columns * exact_columns;
      const std::int64_t count = std::min(exact_columns, plane - first);
      const std::int64_t first_row = item / columns % blocks * block_channels;
      const std::int64_t rows = std::min(block_channels, layout.group_outputs - first_row);
      const std::int64_t group = item / columns / blocks % groups;
      const std::int64_t n = item / columns / blocks / groups;
      const std::int64_t m = group * layout.group_outputs + first_row;
      const double* channels =
          x.data() + (n * layout.x_channels + group * layout.channels) * layout.x_plane;
      const auto start = [&](std::int64_t row) {
        return bias.empty() ? S(0.0) : bias[static_cast<std::size_t>(m + row)];
      };
      block.clear(rows, std::is_same_v<S, Bounded>);
      for (std::int64_t row = 0; row < rows; ++row) begin_row(block, row, count, start(row));
      const TapColumns taps(layout, first, count);
      block.multiply(
          rows, depth, count,
          [&](std::int64_t row, std::int64_t k, std::int64_t terms, double* out) {
            const W* from = w.data() + (m + row) * depth + k;
            for (std::int64_t i = 0; i < terms; ++i)
              out[exact_rows * i] = static_cast<double>(from[i]);
          },
          [&](std::int64_t k, std::int64_t terms, double* out) {
            for (std::int64_t i = 0; i < terms; ++i)
              taps.copy(channels + (k + i) / layout.w_plane * layout.x_plane,
                        (k + i) % layout.w_plane, out + i * exact_columns);
          });
      for (std::int64_t row = 0; row < rows; ++row) {
        S* out = y.data() + (n * layout.outputs + m + row) * plane + first;
        for (std::int64_t j = 0; j < count; ++j)
          out[j] = exact_result<S>(block, start(row), row, j,
                                   layout.channels * inside[static_cast<std::size_t>(first + j)]);
      }
    }
  });
}

struct Conv {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x_shape = context.shape(0);
    const Shape& w_shape = context.shape(1);
    DRIFTSCOPE_TRY(const WindowAttributes window,
                   read_window(context.node(), Ints(w_shape.begin() + 2, w_shape.end())));
    DRIFTSCOPE_TRY(std::vector<WindowAxis> axes,
                   place_windows(window, std::span(x_shape).subspan(2)));
    DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const Layout layout(std::move(axes), x_shape, w_shape, group);
    const std::span<const S> bias = context.has_input(2) ? context.real(2) : std::span<const S>();

    // Fewer channels would leave the rows of the product empty (depthwise).
    bool done = false;
    if (layout.group_outputs >= exact_rows)
      with_exact_factors(context, 0, 1, [&](std::span<const double> x, auto w) {
        if (!all_finite(w)) return;  // a padded 0 times infinity is no 0
        if constexpr (!std::is_same_v<S, float>)
          convolve_exactly<S>(context, layout, x_shape[0], group, x, w, bias, y);
        done = true;
      });
    if (done) return {};

    with_dot_elements<S>(context.real(0), context.real(1), [&]<class Sums>(const auto* x,
                                                                           const auto* w) {
      const std::int64_t width = layout.last().output;
      const std::int64_t cost = width * layout.channels * layout.w_plane;
      context.parallel_for(
          x_shape[0] * layout.outputs * layout.rows, dot_grain(cost),
          [&](std::int64_t begin, std::int64_t end) {
            Sums sums(width);
            std::vector<RowTap> taps;
            for (std::int64_t item = begin; item < end; ++item) {
              const std::int64_t m = item / layout.rows % layout.outputs;
              const std::int64_t n = item / layout.rows / layout.outputs;
              const std::int64_t first_channel = m / layout.group_outputs * layout.channels;
              layout.row_taps(item % layout.rows, taps);
              sums.clear();
              if (!bias.empty())
                for (std::int64_t o = 0; o < width; ++o)
                  sums.start(o, bias[static_cast<std::size_t>(m)]);
              add_row(sums, layout, taps,
                      x + (n * layout.x_channels + first_channel) * layout.x_plane,
                      w + m * layout.channels * layout.w_plane);
              const std::int64_t products =
                  layout.channels * static_cast<std::int64_t>(taps.size());
              for (std::int64_t o = 0; o < width; ++o) {
                const WindowAxis& last = layout.last();
                y[static_cast<std::size_t>(item * width + o)] =
                    sums.result(o, products * (last.tap_end(o) - last.tap_begin(o)));
              }
            }
          });
    });
    return {};
  }
};

}  // namespace

void register_conv(OperatorTable& table) {
  table.add(with_kernels<Conv>(
      {.op_type = "Conv", .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope
