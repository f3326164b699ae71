#include "core/lowering/layout.hpp"

#include <algorithm>
#include <numeric>

namespace driftscope::lowering {

Blocks blocks_of(const Shape& shape, Layout layout) {
  Blocks blocks;
  const std::int64_t elements = element_count(shape);
  blocks.batch = shape.empty() ? 1 : shape[0];
  blocks.channels = std::max<std::int64_t>(layout.channels, 1);
  const std::int64_t outer = blocks.batch * blocks.channels;
  blocks.spatial = outer == 0 ? 0 : elements / outer;
  return blocks;
}

bool same_order(const Shape& shape, Layout a, Layout b) {
  if (a == b) return true;
  if (a.packing != b.packing) return false;
  if (element_count(shape) <= 1) return true;
  const auto trivial = [&](Layout layout) {
    if (layout.channels == 0) return true;
    const Blocks blocks = blocks_of(shape, layout);
    return blocks.channels == 1 || blocks.spatial <= 1;
  };
  return trivial(a) && trivial(b);
}

std::optional<Layout> layout_after(const Shape& from, Layout layout, const Shape& to) {
  if (same_order(from, layout, {})) return Layout{};
  const Blocks blocks = blocks_of(from, layout);
  if (to.empty() || to[0] != blocks.batch) return std::nullopt;
  const bool flattened = to.size() == 2 && to[1] == blocks.channels * blocks.spatial;
  const bool still_last = to.size() > 2 && to[1] == blocks.channels;
  if (flattened || still_last) return layout;
  return std::nullopt;
}

std::vector<std::size_t> axes_in_memory(const Shape& shape, Layout layout) {
  std::vector<std::size_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (layout.channels != 0 && shape.size() > 2) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return axes;
}

Shape shape_in_memory(const Shape& shape, Layout layout) {
  Shape result;
  for (const std::size_t axis : axes_in_memory(shape, layout)) result.push_back(shape[axis]);
  return result;
}

}  // namespace driftscope::lowering
