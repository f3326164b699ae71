#include "core/engines/fast/layout.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace driftscope::fast {
namespace {

// rows×columns → columns×rows, in blocks that stay in the cache.
template <class T>
void transpose(const T* source, std::int64_t rows, std::int64_t columns, T* target) {
  constexpr std::int64_t block = 16;
  for (std::int64_t r = 0; r < rows; r += block)
    for (std::int64_t c = 0; c < columns; c += block)
      for (std::int64_t i = r; i < std::min(rows, r + block); ++i)
        for (std::int64_t j = c; j < std::min(columns, c + block); ++j)
          target[j * rows + i] = source[i * columns + j];
}

void transpose_bytes(const std::byte* source, std::int64_t rows, std::int64_t columns,
                     std::size_t element_bytes, std::byte* target) {
  const auto as = [&]<class T>(T) {
    transpose(reinterpret_cast<const T*>(source), rows, columns, reinterpret_cast<T*>(target));
  };
  switch (element_bytes) {
    case 1: return as(std::uint8_t{});
    case 2: return as(std::uint16_t{});
    case 4: return as(std::uint32_t{});
    default: return as(std::uint64_t{});
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

void reorder(const Shape& shape, std::size_t element_bytes, Layout from, const std::byte* source,
             Layout to, std::byte* target) {
  const auto bytes = static_cast<std::size_t>(element_count(shape)) * element_bytes;
  if (bytes == 0) return;
  if (same_order(shape, from, to)) {
    std::memcpy(target, source, bytes);
    return;
  }
  if (!from.plain() && !to.plain()) {  // two different groupings: over the plain order
    std::vector<std::byte> between(bytes);
    reorder(shape, element_bytes, from, source, {}, between.data());
    return reorder(shape, element_bytes, {}, between.data(), to, target);
  }
  const Blocks blocks = blocks_of(shape, from.plain() ? to : from);
  const std::int64_t rows = from.plain() ? blocks.channels : blocks.spatial;
  const std::int64_t columns = from.plain() ? blocks.spatial : blocks.channels;
  const std::size_t part = static_cast<std::size_t>(rows * columns) * element_bytes;
  for (std::int64_t n = 0; n < blocks.batch; ++n)
    transpose_bytes(source + static_cast<std::size_t>(n) * part, rows, columns, element_bytes,
                    target + static_cast<std::size_t>(n) * part);
}

}  // namespace driftscope::fast
