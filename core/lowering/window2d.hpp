// The window of a convolution in one or two dimensions, one dimension being a height of 1.
// Clients: the operators of engines.
#pragma once

#include <optional>

#include "core/model/tensor.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope::lowering {

struct Window2d {
  WindowAxis height{.input = 1, .kernel = 1, .output = 1};
  WindowAxis width;
};

/// For X and W of these shapes; nothing in three dimensions, or where the attributes do not fit.
[[nodiscard]] inline std::optional<Window2d> window2d(const Node& node, const Shape& x, const Shape& w) {
  if (x.size() < 3 || x.size() > 4) return std::nullopt;
  const auto attributes = read_window(node, Ints(w.begin() + 2, w.end()));
  if (!attributes.ok()) return std::nullopt;
  const auto axes = place_windows(*attributes, std::span(x).subspan(2));
  if (!axes.ok()) return std::nullopt;
  Window2d window;
  window.width = axes->back();
  if (x.size() == 4) window.height = axes->front();
  return window;
}

}  // namespace driftscope::lowering
