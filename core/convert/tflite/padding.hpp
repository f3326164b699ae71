// Paddings of windows: TensorFlow Lite has only SAME and VALID; for others a PAD is inserted before. Clients:
// operators/.
#pragma once

#include <array>

#include "core/convert/tflite/builder.hpp"

namespace driftscope::tflite {

/// A window over height and width.
struct Window {
  std::array<std::int64_t, 2> size{};
  std::array<std::int64_t, 2> strides{1, 1};
  std::array<std::int64_t, 2> dilations{1, 1};
};

/// Before and after, of height and width.
struct Pads {
  std::array<std::int64_t, 2> before{};
  std::array<std::int64_t, 2> after{};
  [[nodiscard]] bool any() const { return before[0] + before[1] + after[0] + after[1] != 0; }
  bool operator==(const Pads&) const = default;
};

/// Strides and dilations of a node; an error where they reach beyond height and width.
[[nodiscard]] Result<Window> window_of(const tf::Node& node, std::array<std::int64_t, 2> size);

/// The elements that a window takes with its gaps.
[[nodiscard]] std::array<std::int64_t, 2> extent(const Window& window);

/// What SAME means for an input of this height and width.
[[nodiscard]] Pads same_pads(const Window& window, std::array<std::int64_t, 2> input);

/// The node's attributes "padding" and "explicit_paddings"; `input`: height and width that SAME refers to.
[[nodiscard]] Result<Pads> pads_of(const tf::Node& node, const Window& window,
                                   std::array<std::int64_t, 2> input);

struct Padded {
  TensorIndex input;
  fb::Padding padding;
};

/// The input of a window, with `fill` around it where the format has no padding that means the same.
[[nodiscard]] Result<Padded> padded_input(Builder& builder, const tf::Node& node, const Window& window,
                                          float fill);

/// Height and width of a value of rank 4, channels last.
[[nodiscard]] Result<std::array<std::int64_t, 2>> image_size(const Builder& builder,
                                                             const std::string& value);

}  // namespace driftscope::tflite
