// The rows of images in NHWC under a window that slides over them: those that a row of outputs needs lie
// padded in a ring, so that a row of each pixel's window is contiguous there. Clients: row_convolution.cpp,
// int8_row_convolution.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/lowering/window2d.hpp"

namespace driftscope::fast {

struct RowWindow {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  lowering::Window2d window;  ///< without gaps in its width

  /// Of outputs, in all images.
  [[nodiscard]] std::int64_t rows() const { return batch * window.height.output; }
  /// Rows of an image that have to be there for the windows of so many rows of outputs.
  [[nodiscard]] std::int64_t ring_rows(std::int64_t at_once) const {
    const std::int64_t reach =
        (at_once - 1) * window.height.stride + (window.height.kernel - 1) * window.height.dilation + 1;
    return std::clamp<std::int64_t>(reach, 1, window.height.input);
  }
  /// Elements of a padded row.
  [[nodiscard]] std::int64_t pitch() const {
    return ((window.width.output - 1) * window.width.stride + window.width.kernel) * channels;
  }
  /// Elements of a row of the window, and from a pixel's window to the next one's.
  [[nodiscard]] std::int64_t depth() const { return window.width.kernel * channels; }
  [[nodiscard]] std::int64_t step() const { return window.width.stride * channels; }
  [[nodiscard]] std::int64_t row_size() const { return window.width.input * channels; }
  /// As images have: one to four.
  [[nodiscard]] bool has_few_channels() const { return channels <= 4; }
  /// Whether padded rows are of the order of the image's: a model may ask for pads of any size.
  [[nodiscard]] bool pads_little() const { return pitch() <= 2 * row_size() + 4096 * channels; }
  [[nodiscard]] std::int64_t image_size() const { return window.height.input * row_size(); }
};

/// A padded copy of a row of an image in NHWC; copy(from, to, n) copies elements. What is outside is 0.
template <class From, class To, class Copy>
void copy_padded_row(const RowWindow& it, const From* row, To* to, const Copy& copy) {
  const WindowAxis& width = it.window.width;
  const std::int64_t pixels = it.pitch() / it.channels;
  const std::int64_t before = std::min(width.pad_begin, pixels);
  const std::int64_t inside = std::clamp<std::int64_t>(pixels - before, 0, width.input);
  std::fill_n(to, before * it.channels, To{0});
  copy(row, to + before * it.channels, inside * it.channels);
  std::fill(to + (before + inside) * it.channels, to + it.pitch(), To{0});
}

/// The same of an image in NCHW, whose elements `convert` makes those of the copy.
template <class From, class To, class Convert>
void gather_padded_row(const RowWindow& it, const From* image, std::int64_t row, To* to,
                       const Convert& convert) {
  const std::int64_t columns = it.window.width.input;
  const From* const first = image + row * columns;
  copy_padded_row(it, first, to, [&](const From*, To* inside, std::int64_t n) {
    for (std::int64_t c = 0; c < it.channels; ++c) {
      const From* from = first + c * it.window.height.input * columns;
      for (std::int64_t x = 0; x < n / it.channels; ++x) inside[x * it.channels + c] = convert(from[x]);
    }
  });
}

/// A ring of RowWindow::ring_rows() rows, `spacing` elements apart, and a row of zeros.
template <class Element>
struct RowRing {
  Element* rows = nullptr;
  std::int64_t spacing = 0;
  const Element* zeros = nullptr;
};

/// Calls body(windows, row, count) for the rows [begin, end) of the outputs of all images, up to `at_once` of
/// an image together: `windows` points to the rows of the window of each one's first pixel. copy(image, row,
/// to) pads a row of an image.
template <class Element, class Copy, class Body>
void for_each_row(const RowWindow& it, std::int64_t begin, std::int64_t end, std::int64_t at_once,
                  const RowRing<Element>& ring, const Copy& copy, const Body& body) {
  const WindowAxis& height = it.window.height;
  const std::int64_t size = it.ring_rows(at_once);
  std::vector<const Element*> windows(static_cast<std::size_t>(at_once * height.kernel));
  std::int64_t next = 0;  // row of the image that is not in the ring yet
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t out = at % height.output;
    const std::int64_t count = std::min({at_once, end - at, height.output - out});
    if (at == begin || out == 0) next = 0;
    const std::int64_t top = height.at(out, 0);
    const std::int64_t bottom = height.at(out + count - 1, height.kernel - 1);
    for (next = std::max({next, top, std::int64_t{0}}); next < std::min(bottom + 1, height.input); ++next)
      copy(at / height.output, next, ring.rows + next % size * ring.spacing);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t k = 0; k < height.kernel; ++k) {
        const std::int64_t row = height.at(out + i, k);
        const bool inside = row >= 0 && row < height.input;
        windows[static_cast<std::size_t>(i * height.kernel + k)] =
            inside ? ring.rows + row % size * ring.spacing : ring.zeros;
      }
    body(windows.data(), at, count);
    at += count;
  }
}

}  // namespace driftscope::fast
