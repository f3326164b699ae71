// Lanes along one axis: the tensor as outer × size × inner, a lane for each of the outer × inner.
// Clients: Softmax, LogSoftmax, Hardmax, ArgMax, CumSum, LpNormalization.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/eval/kernel_context.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope {

struct Lanes {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;

  /// Lanes along one axis, or along all axes from `axis` on. A scalar is one lane of one element.
  static Lanes along(const Shape& shape, std::size_t axis, bool to_the_end = false) {
    Lanes lanes;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i < axis)
        lanes.outer *= shape[i];
      else if (i == axis || to_the_end)
        lanes.size *= shape[i];
      else
        lanes.inner *= shape[i];
    }
    return lanes;
  }

  [[nodiscard]] std::int64_t count() const { return outer * inner; }
  /// The offset of the start of lane `item`; its elements are `inner` apart.
  [[nodiscard]] std::int64_t first(std::int64_t item) const {
    return item / inner * size * inner + item % inner;
  }
};

/// body(item, lane) for every lane, copied out; on any thread. x: a span, or RealElements.
template <class T, class S, class X, class Body>
void for_each_lane(const KernelContext<S>& context, const Lanes& lanes, const X& x, const Body& body) {
  if (lanes.count() == 0) return;
  const std::int64_t grain = std::max<std::int64_t>(1, 1024 / std::max<std::int64_t>(1, lanes.size));
  context.parallel_for(lanes.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> lane(static_cast<std::size_t>(lanes.size));
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t first = lanes.first(item);
      for (std::size_t i = 0; i < lane.size(); ++i)
        lane[i] = x[static_cast<std::size_t>(first + static_cast<std::int64_t>(i) * lanes.inner)];
      body(item, std::span<T>(lane));
    }
  });
}

/// The same, and the lane, changed in place, is written to y.
template <class T, class S, class X, class Body>
void map_lanes(const KernelContext<S>& context, const Lanes& lanes, const X& x, std::span<T> y,
               const Body& body) {
  for_each_lane<T>(context, lanes, x, [&](std::int64_t item, std::span<T> lane) {
    body(lane);
    T* to = y.data() + lanes.first(item);
    for (std::size_t i = 0; i < lane.size(); ++i) to[static_cast<std::int64_t>(i) * lanes.inner] = lane[i];
  });
}

}  // namespace driftscope
