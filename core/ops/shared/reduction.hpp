// Which axes are reduced, and the resulting lanes: one lane of elements for each element of the
// result. Clients: Reduce*, the normalizations. It does no arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/eval/operator.hpp"
#include "core/ops/shared/broadcast.hpp"

namespace driftscope {

/// Attribute or (`input` ≥ 0) input `axes`, counted from the front, in ascending order; nothing if it
/// is an input that is not known yet. An empty list means that no axes were given.
[[nodiscard]] Result<std::optional<std::vector<std::size_t>>> read_axes(const Node& node, const Tensor* input,
                                                                        bool input_given, bool as_input,
                                                                        std::size_t rank);

/// Lanes over the axes marked in `reduced`.
class ReducedLanes {
 public:
  ReducedLanes(const Shape& shape, const std::vector<bool>& reduced);

  /// Lanes, and elements in each.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// The elements of a lane are contiguous.
  [[nodiscard]] bool contiguous() const { return contiguous_; }

  /// The elements of lane `index` in index order: a view if they are contiguous, else copied
  /// to `scratch`.
  template <class T>
  [[nodiscard]] std::span<const T> lane(std::span<const T> x, std::int64_t index,
                                        std::vector<T>& scratch) const {
    const auto size = static_cast<std::size_t>(size_);
    if (contiguous_) return x.subspan(static_cast<std::size_t>(index * size_), size);
    const std::int64_t base = offsets_at(index, kept_, strides_)[0];
    scratch.resize(size);
    for (std::size_t i = 0; i < size; ++i) scratch[i] = x[static_cast<std::size_t>(base + offsets_[i])];
    return scratch;
  }

  /// The address of element i of lane `index`, for writing.
  [[nodiscard]] std::int64_t base(std::int64_t index) const {
    return contiguous_ ? index * size_ : offsets_at(index, kept_, strides_)[0];
  }
  [[nodiscard]] std::int64_t offset(std::int64_t i) const {
    return contiguous_ ? i : offsets_[static_cast<std::size_t>(i)];
  }

 private:
  std::int64_t count_ = 1;
  std::int64_t size_ = 1;
  bool contiguous_ = true;
  Shape kept_;                         // sizes of the axes that remain
  std::array<Shape, 1> strides_;       // their strides
  std::vector<std::int64_t> offsets_;  // of the elements of a lane, unless they are contiguous
};

/// Whether a parameter of a normalization over the axes from `axis` on has one number for each element of a
/// lane, the same in every lane: otherwise it must be broadcast.
[[nodiscard]] inline bool fits_lane(std::span<const std::int64_t> parameter, std::span<const std::int64_t> x,
                                    std::size_t axis) {
  const auto lane = x.subspan(axis);
  if (parameter.size() < lane.size() || parameter.size() > x.size()) return false;
  const auto before = parameter.first(parameter.size() - lane.size());
  return std::ranges::equal(parameter.last(lane.size()), lane) &&
         std::ranges::all_of(before, [](std::int64_t size) { return size == 1; });
}

/// Lanes worth handing to a thread.
[[nodiscard]] inline std::int64_t lane_grain(std::int64_t size) {
  return std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, size));
}

}  // namespace driftscope
