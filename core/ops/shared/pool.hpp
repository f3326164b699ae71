// Shared by the pooling operators: their shape rule and the iteration over a window's taps.
// Clients: max_pool.cpp, average_pool.cpp.
#pragma once

#include <span>
#include <vector>

#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope {

/// The shape of Y. X has the rank 3 or more; kernel_shape is required.
[[nodiscard]] Result<std::optional<SymbolicShape>> infer_pool(const InferContext& context);

/// One window after another over every channel of every sample ("plane").
struct PoolPlan {
  std::vector<WindowAxis> axes;
  std::int64_t planes = 1;
  std::int64_t x_plane = 1;  ///< elements
  std::int64_t y_plane = 1;

  /// Coordinates of the output element `index` of a plane.
  void locate(std::int64_t index, std::vector<std::int64_t>& o) const {
    o.resize(axes.size());
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      o[axis] = index % axes[axis].output;
      index /= axes[axis].output;
    }
  }
};

[[nodiscard]] Result<PoolPlan> plan_pool(const Node& node, const Shape& x);

/// Calls body(offset in the plane) for the taps of window `o` inside the input, in row-major order.
template <class Body>
void for_each_tap(std::span<const WindowAxis> axes, std::span<const std::int64_t> o, std::int64_t offset,
                  const Body& body) {
  if (axes.empty()) {
    body(offset);
    return;
  }
  const WindowAxis& axis = axes.front();
  for (std::int64_t k = axis.tap_begin(o.front()); k < axis.tap_end(o.front()); ++k)
    for_each_tap(axes.subspan(1), o.subspan(1), offset * axis.input + axis.at(o.front(), k), body);
}

}  // namespace driftscope
