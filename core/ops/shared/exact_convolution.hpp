// Conv with exact factors: blocks of W times the matrix of taps, in double.
// Client: the reference kernel of Conv.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/exact_factors.hpp"

namespace driftscope {

// Outputs [first, first + count) of a plane, in pieces that lie in one row: where tap `tap` of the
// kernel meets the input, in the order of the outputs; 0 in the padding.
class TapColumns {
 public:
  TapColumns(const ConvolutionLayout& layout, std::int64_t first, std::int64_t count)
      : layout_(layout), pointwise_(is_pointwise(layout)) {
    if (pointwise_) {
      pieces_.push_back({first, 0, count});
      return;
    }
    const std::int64_t width = layout.last().output;
    for (std::int64_t o = first; o < first + count;) {
      const std::int64_t end = std::min(first + count, (o / width + 1) * width);
      pieces_.push_back({o / width, o % width, end - o});
      o = end;
    }
  }

  template <class X>
  void copy(const X* channel, std::int64_t tap, double* out) const {
    if (pointwise_) {
      const Piece& all = pieces_.front();
      std::transform(channel + all.row, channel + all.row + all.count, out,
                     [](X x) { return static_cast<double>(x); });
      return;
    }
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
        const X* x = channel + offset * last.input + last.at(begin, k);
        for (std::int64_t o = begin; o < end; ++o, x += last.stride) *out++ = static_cast<double>(*x);
      }
      out = std::fill_n(out, piece_end - end, 0.0);
    }
  }

 private:
  // A kernel of one tap that reads each element once: rows need not be distinguished.
  static bool is_pointwise(const ConvolutionLayout& layout) {
    return std::all_of(layout.axes().begin(), layout.axes().end(), [](const WindowAxis& axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.input == axis.output && axis.at(0, 0) == 0;
    });
  }

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

  const ConvolutionLayout& layout_;
  bool pointwise_;
  std::vector<Piece> pieces_;
};

// Taps of each output that lie inside the input, in one channel.
[[nodiscard]] inline std::vector<std::int64_t> taps_inside(const ConvolutionLayout& layout) {
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

template <class T>
[[nodiscard]] bool all_finite(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [](T x) { return std::isfinite(x); });
}

// Output channels of a block: its sums stay in the second-level cache.
inline constexpr std::int64_t block_channels = 128;

// For exact factors, as a product of W and the matrix of taps.
template <class S, class T>
void convolve_exactly(const KernelContext<S>& context, const ConvolutionLayout& layout, std::int64_t samples,
                      std::int64_t groups, std::span<const T> x, std::span<const T> w,
                      std::span<const S> bias, std::span<S> y) {
  const std::int64_t plane = layout.rows * layout.last().output;
  const std::int64_t depth = layout.channels * layout.w_plane;
  const std::int64_t columns = (plane + exact_columns - 1) / exact_columns;
  const std::int64_t blocks = (layout.group_outputs + block_channels - 1) / block_channels;
  const std::vector<std::int64_t> inside = taps_inside(layout);
  context.parallel_for(samples * groups * blocks * columns, 1, [&](std::int64_t begin, std::int64_t end) {
    ExactBlock block(factors_of(context));
    ExactResults<S> result([&] { return largest_finite_product(x, w); });
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t first = item % columns * exact_columns;
      const std::int64_t count = std::min(exact_columns, plane - first);
      const std::int64_t first_row = item / columns % blocks * block_channels;
      const std::int64_t rows = std::min(block_channels, layout.group_outputs - first_row);
      const std::int64_t group = item / columns / blocks % groups;
      const std::int64_t n = item / columns / blocks / groups;
      const std::int64_t m = group * layout.group_outputs + first_row;
      const T* channels = x.data() + (n * layout.x_channels + group * layout.channels) * layout.x_plane;
      const auto start = [&](std::int64_t row) {
        return bias.empty() ? S(0.0) : bias[static_cast<std::size_t>(m + row)];
      };
      block.clear(rows, std::is_same_v<S, Bounded>);
      for (std::int64_t row = 0; row < rows; ++row) begin_row(block, row, count, start(row));
      const TapColumns taps(layout, first, count);
      block.multiply(
          rows, depth, count,
          [&](std::int64_t row, std::int64_t k, std::int64_t terms, double* out) {
            const T* from = w.data() + (m + row) * depth + k;
            for (std::int64_t i = 0; i < terms; ++i) out[exact_rows * i] = static_cast<double>(from[i]);
          },
          [&](std::int64_t k, std::int64_t terms, double* out) {
            for (std::int64_t i = 0; i < terms; ++i)
              taps.copy(channels + (k + i) / layout.w_plane * layout.x_plane, (k + i) % layout.w_plane,
                        out + i * exact_columns);
          });
      for (std::int64_t row = 0; row < rows; ++row) {
        S* out = y.data() + (n * layout.outputs + m + row) * plane + first;
        const S first_term = start(row);
        for (std::int64_t j = 0; j < count; ++j)
          out[j] = result(block, first_term, row, j,
                          layout.channels * inside[static_cast<std::size_t>(first + j)]);
      }
    }
  });
}

}  // namespace driftscope
