// The geometry of windows that slide over the spatial axes: Conv, MaxPool, AveragePool.
// Output sizes and implicit pads as in the ONNX specification of these operators (opset 7 to 21).
// It touches no data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope {

enum class AutoPad { notset, same_upper, same_lower, valid };

/// The attributes, checked, one entry per spatial axis (pads: all begins, then all ends).
struct WindowAttributes {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints pads;
  AutoPad auto_pad = AutoPad::notset;
  bool ceil_mode = false;
};

/// Reads strides, dilations, pads, auto_pad and ceil_mode for a kernel of this shape.
[[nodiscard]] Result<WindowAttributes> read_window(const Node& node, Ints kernel);

/// One spatial axis: where the windows lie.
struct WindowAxis {
  std::int64_t input = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t output = 0;

  /// Input coordinate of tap `k` of window `o`; outside [0, input) it lies in the padding.
  [[nodiscard]] std::int64_t at(std::int64_t o, std::int64_t k) const {
    return o * stride - pad_begin + k * dilation;
  }
  /// First tap of window o at or beyond coordinate `bound`, at most `kernel`.
  [[nodiscard]] std::int64_t first_tap_from(std::int64_t o, std::int64_t bound) const {
    const std::int64_t distance = bound - at(o, 0);
    return distance <= 0 ? 0 : std::min(kernel, (distance + dilation - 1) / dilation);
  }
  /// Taps of window o inside the input: [tap_begin(o), tap_end(o)).
  [[nodiscard]] std::int64_t tap_begin(std::int64_t o) const { return first_tap_from(o, 0); }
  [[nodiscard]] std::int64_t tap_end(std::int64_t o) const { return first_tap_from(o, input); }
  /// First window whose tap `k` lies at or beyond coordinate `bound`, at most `output`.
  [[nodiscard]] std::int64_t first_window_from(std::int64_t k, std::int64_t bound) const {
    const std::int64_t distance = bound - at(0, k);
    return distance <= 0 ? 0 : std::min(output, (distance + stride - 1) / stride);
  }
};

/// Error: the kernel does not fit into the padded input.
[[nodiscard]] Result<WindowAxis> place_window(const WindowAttributes& attributes, std::size_t axis,
                                              std::int64_t input);
[[nodiscard]] Result<std::vector<WindowAxis>> place_windows(const WindowAttributes& attributes,
                                                            std::span<const std::int64_t> spatial);
/// The output size; unknown when the input size is, except that a stride of 1 with a size-preserving
/// padding passes a symbol on.
[[nodiscard]] Result<Dimension> window_output(const WindowAttributes& attributes, std::size_t axis,
                                              const Dimension& input);

}  // namespace driftscope
