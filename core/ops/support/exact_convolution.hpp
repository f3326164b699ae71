// Conv over factors without error: blocks of W times the matrix of taps, in double.
// Client: the reference kernel of Conv.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/ops/support/convolution.hpp"
#include "core/ops/support/exact_factors.hpp"

namespace driftscope {

// Outputs [first, first + count) of a plane, in pieces that lie in one row: where tap `tap` of the
// kernel meets the input, in the order of the outputs; 0 in the padding.
class TapColumns {
 public:
  TapColumns(const ConvolutionLayout& layout, std::int64_t first, std::int64_t count) : layout_(layout) {
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

  const ConvolutionLayout& layout_;
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

// Over factors without error, as a product of W and the matrix of taps.
template <class S, class W>
void convolve_exactly(const KernelContext<S>& context, const ConvolutionLayout& layout, std::int64_t samples,
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

}  // namespace driftscope
