#include "core/lowering/layout.hpp"

#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "core/engines/fast/xnn.hpp"

namespace driftscope::fast {
namespace {

using Transpose = decltype(&xnn_run_transpose_nd_x32);

Transpose transpose_of(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1: return xnn_run_transpose_nd_x8;
    case 2: return xnn_run_transpose_nd_x16;
    case 4: return xnn_run_transpose_nd_x32;
    default: return xnn_run_transpose_nd_x64;
  }
}

}  // namespace

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
  if (a == b || element_count(shape) <= 1) return true;
  const auto trivial = [&](Layout layout) {
    if (layout.plain()) return true;
    const Blocks blocks = blocks_of(shape, layout);
    return blocks.channels == 1 || blocks.spatial <= 1;
  };
  return trivial(a) && trivial(b);
}

std::vector<std::size_t> axes_in_memory(const Shape& shape, Layout layout) {
  std::vector<std::size_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (!layout.plain() && shape.size() > 2) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return axes;
}

Shape shape_in_memory(const Shape& shape, Layout layout) {
  Shape result;
  for (const std::size_t axis : axes_in_memory(shape, layout)) result.push_back(shape[axis]);
  return result;
}

Status reorder(const Shape& shape, std::size_t element_bytes, Layout from, const std::byte* source, Layout to,
               std::byte* target, pthreadpool* pool) {
  const auto bytes = static_cast<std::size_t>(element_count(shape)) * element_bytes;
  if (bytes == 0) return {};
  if (same_order(shape, from, to)) {
    std::memcpy(target, source, bytes);
    return {};
  }
  if (!from.plain() && !to.plain()) {  // two different groupings: over the plain order
    std::vector<std::byte> between(bytes + read_beyond);
    DRIFTSCOPE_CHECK(reorder(shape, element_bytes, from, source, {}, between.data(), pool));
    return reorder(shape, element_bytes, {}, between.data(), to, target, pool);
  }
  const Blocks blocks = blocks_of(shape, from.plain() ? to : from);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const std::array<std::size_t, 3> dims = {size(blocks.batch),
                                           size(from.plain() ? blocks.channels : blocks.spatial),
                                           size(from.plain() ? blocks.spatial : blocks.channels)};
  constexpr std::array<std::size_t, 3> order = {0, 2, 1};
  return xnn_check(
      transpose_of(element_bytes)(source, target, dims.size(), dims.data(), order.data(), 0, pool),
      "XNNPACK: transpose");
}

}  // namespace driftscope::fast
