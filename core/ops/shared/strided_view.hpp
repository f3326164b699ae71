// A view of a tensor: the element at coordinates o lies at base + Σ oᵢ·strideᵢ; strides may be 0 or
// negative. Slice, Split, Expand, Tile, DepthToSpace and their kind are one view each, copied row by
// row. It checks nothing: its makers ensure that every element lies inside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/model/tensor.hpp"
#include "core/ops/shared/move.hpp"

namespace driftscope {

/// Elements from one index to the next along each axis of a dense tensor.
[[nodiscard]] inline Shape dense_strides(std::span<const std::int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

struct StridedView {
  std::int64_t base = 0;
  Shape extent;
  Shape strides;

  void add(std::int64_t size, std::int64_t stride) {
    extent.push_back(size);
    strides.push_back(stride);
  }

  /// Fewer and longer axes: those of one element are dropped, adjacent ones that are contiguous are merged.
  void coalesce() {
    StridedView joined{base, {}, {}};
    for (std::size_t i = 0; i < extent.size(); ++i) {
      if (extent[i] == 1) continue;
      if (!joined.extent.empty() && joined.strides.back() == strides[i] * extent[i]) {
        joined.extent.back() *= extent[i];
        joined.strides.back() = strides[i];
      } else {
        joined.add(extent[i], strides[i]);
      }
    }
    *this = std::move(joined);
  }

  [[nodiscard]] std::int64_t columns() const { return extent.empty() ? 1 : extent.back(); }

  /// Rows [begin, end) of the view, a row being its last axis.
  template <class T>
  void copy_rows(std::span<const T> source, std::span<T> target, std::int64_t begin, std::int64_t end) const {
    const std::size_t outer = extent.empty() ? 0 : extent.size() - 1;
    const std::int64_t width = columns();
    const std::int64_t step = extent.empty() ? 1 : strides.back();
    Shape at(outer, 0);
    std::int64_t offset = base;
    std::int64_t rest = begin;
    for (std::size_t axis = outer; axis-- > 0;) {
      at[axis] = rest % extent[axis];
      rest /= extent[axis];
      offset += at[axis] * strides[axis];
    }
    T* to = target.data() + begin * width;
    for (std::int64_t row = begin; row < end; ++row, to += width) {
      const T* from = source.data() + offset;
      if (step == 1) {
        std::copy_n(from, width, to);
      } else {
        for (std::int64_t i = 0; i < width; ++i) to[i] = from[i * step];
      }
      for (std::size_t axis = outer; axis-- > 0;) {
        offset += strides[axis];
        if (++at[axis] < extent[axis]) break;
        offset -= strides[axis] * extent[axis];
        at[axis] = 0;
      }
    }
  }
};

/// output = view of input. Both have the same element type.
template <class S>
void copy_view(KernelContext<S>& context, std::size_t input, StridedView view, std::size_t output = 0) {
  if (element_count(view.extent) == 0) return;
  view.coalesce();
  const std::array<std::size_t, 1> inputs = {input};
  move_elements(context, inputs, output,
                [&]<class T>(std::span<const std::span<const T>> sources, std::span<T> target) {
                  const auto rows = static_cast<std::int64_t>(target.size()) / view.columns();
                  context.parallel_for(rows, std::max<std::int64_t>(1, 16384 / view.columns()),
                                       [&](std::int64_t begin, std::int64_t end) {
                                         view.copy_rows<T>(sources[0], target, begin, end);
                                       });
                });
}

}  // namespace driftscope
