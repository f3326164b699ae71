// Sliding windows as TensorFlow has them: two spatial axes (one is a height of 1) or three, its own padding
// rules where they give the same windows. Clients: Conv, MaxPool, AveragePool.
#pragma once

#include <string>
#include <vector>

#include "core/convert/tf/lowering.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope::tf {

enum class PaddingKind { valid, same, given };

struct Windows {
  std::vector<WindowAxis> axes;  ///< 2 or 3
  PaddingKind kind = PaddingKind::valid;

  [[nodiscard]] bool dilated() const;
  /// [1, …, 1], for strides, dilations, kernel sizes.
  [[nodiscard]] std::vector<std::int64_t> per_axis(std::int64_t WindowAxis::* member) const;
  /// Zeros or the like to put before and behind each of the axes: no more than the windows reach.
  [[nodiscard]] std::int64_t pad_begin(std::size_t axis) const { return axes[axis].pad_begin; }
  [[nodiscard]] std::int64_t pad_end(std::size_t axis) const;
  /// [0, 0, begin, end, …, 0, 0].
  [[nodiscard]] std::vector<std::int64_t> paddings() const;
};

/// Of one, two or three spatial axes.
[[nodiscard]] Windows windows_of(std::vector<WindowAxis> axes);

/// [N, spatial…, C] of the windows' outputs.
[[nodiscard]] Shape window_shape(const Windows& windows, std::int64_t batch, std::int64_t channels);

/// A value of one, two or three spatial axes, channels last, as the windows need it: one axis gets a height.
[[nodiscard]] Result<std::string> read_for_windows(Lowering& lowering, ValueId id);

/// The tensor with as much of `value` around it as the windows reach.
[[nodiscard]] Result<std::string> padded(Lowering& lowering, const std::string& tensor,
                                         const Windows& windows, float value);

/// Every `stride`-th element of each axis between the first and the last.
[[nodiscard]] Result<std::string> subsampled(Lowering& lowering, const std::string& tensor,
                                             const Windows& windows);

/// The inputs begin, end and strides and the attributes of a StridedSlice of `shape`.
struct SliceRange {
  std::int64_t begin = 0;
  std::int64_t size = 0;  ///< elements of the result
  std::int64_t step = 1;
};
struct StridedSliceParts {
  Inputs inputs;  ///< the tensor first
  Attributes attributes;
  Shape shape;  ///< of the result
};
[[nodiscard]] Result<StridedSliceParts> strided_slice(Lowering& lowering, const std::string& tensor,
                                                      const std::vector<SliceRange>& ranges);

/// Makes the node whose tensor, [N, spatial…, C] of the windows' outputs, is the value: of one spatial axis
/// without the height.
[[nodiscard]] Status give_windows(Lowering& lowering, ValueId id, std::string_view op, Inputs inputs,
                                  Attributes attributes, const Windows& windows);

}  // namespace driftscope::tf
