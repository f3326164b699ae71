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
