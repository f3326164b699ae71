// Shared by the convolutions: the shape rule, memory layout, one row of outputs as dot products.
// Clients: Conv, ConvTranspose (kernel shape and groups), ConvInteger, QLinearConv.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "core/numerics/dot.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope {

/// Which inputs of a node are X, W and B, and what they are called.
struct ConvolutionInputs {
  std::size_t x = 0;
  std::size_t w = 1;
  std::size_t b = 2;
  std::array<std::string_view, 3> names = {"X", "W", "B"};
};

/// The kernel's shape from the attribute and W, which must agree; nothing while neither is known.
[[nodiscard]] Result<std::optional<Ints>> kernel_shape(const Node& node,
                                                       const std::optional<SymbolicShape>& w);
[[nodiscard]] Result<std::int64_t> read_group(const Node& node);

/// The shape of Y, as far as it is known; ranks and sizes of the inputs are checked, types are not.
[[nodiscard]] Result<std::optional<SymbolicShape>> infer_convolution(const InferContext& context,
                                                                     const ConvolutionInputs& inputs);

/// Offsets of the taps of one output row, without the last axis, along which they move.
struct RowTap {
  std::int64_t input;   ///< offset in one channel of X
  std::int64_t weight;  ///< offset in one channel of W
};

/// Sizes and windows; the last spatial axis is the row along which outputs are computed together.
class ConvolutionLayout {
 public:
  ConvolutionLayout(std::vector<WindowAxis> axes, const Shape& x, const Shape& w, std::int64_t group)
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
  const std::vector<WindowAxis>& axes() const { return axes_; }

  /// Taps of output row `row` that hit the input, in the order of W's memory.
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

  std::int64_t channels;       ///< of X per group
  std::int64_t outputs;        ///< channels of Y
  std::int64_t group_outputs;  ///< channels of Y per group
  std::int64_t x_channels;
  std::int64_t x_plane = 1;  ///< elements of one channel
  std::int64_t w_plane = 1;
  std::int64_t rows = 1;  ///< output rows per channel

 private:
  std::vector<WindowAxis> axes_;
};

/// Adds the products of one output row: W's memory order, channel first. `x` begins at the first
/// channel of the group, `w` at the output channel.
template <class Sums>
void add_convolution_row(Sums& sums, const ConvolutionLayout& layout, const std::vector<RowTap>& taps,
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

/// The whole convolution, a row of the output at a time: x [samples, …] with w, accumulators starting at
/// `bias` (one per output channel, or none), stored as store(sums, o, products) with the number of
/// products that the element has. `sums` is made once per thread.
template <class Sums, class S, class Bias, class Y, class Store>
void convolve_rows(const KernelContext<S>& context, const ConvolutionLayout& layout, std::int64_t samples,
                   const typename Sums::Element* x, const typename Sums::Element* w,
                   std::span<const Bias> bias, std::span<Y> y, const Store& store) {
  const WindowAxis& last = layout.last();
  const std::int64_t width = last.output;
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    Sums sums(width);
    std::vector<RowTap> taps;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t m = item / layout.rows % layout.outputs;
      const std::int64_t n = item / layout.rows / layout.outputs;
      const std::int64_t first_channel = m / layout.group_outputs * layout.channels;
      layout.row_taps(item % layout.rows, taps);
      sums.clear();
      if (!bias.empty())
        for (std::int64_t o = 0; o < width; ++o) sums.start(o, bias[static_cast<std::size_t>(m)]);
      add_convolution_row(sums, layout, taps, x + (n * layout.x_channels + first_channel) * layout.x_plane,
                          w + m * layout.channels * layout.w_plane);
      const std::int64_t products = layout.channels * static_cast<std::int64_t>(taps.size());
      for (std::int64_t o = 0; o < width; ++o)
        y[static_cast<std::size_t>(item * width + o)] =
            store(sums, o, products * (last.tap_end(o) - last.tap_begin(o)));
    }
  };
  context.parallel_for(samples * layout.outputs * layout.rows,
                       dot_grain(width * layout.channels * layout.w_plane), rows);
}

}  // namespace driftscope
