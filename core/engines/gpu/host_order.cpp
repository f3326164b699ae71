#include "core/engines/gpu/host_order.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>

namespace driftscope::gpu {
namespace {

// rows × columns → columns × rows, in tiles that stay in the cache.
template <class T>
void turn(const T* source, std::int64_t rows, std::int64_t columns, T* target) {
  constexpr std::int64_t tile = 32;
  for (std::int64_t r = 0; r < rows; r += tile)
    for (std::int64_t c = 0; c < columns; c += tile)
      for (std::int64_t i = r; i < std::min(rows, r + tile); ++i)
        for (std::int64_t j = c; j < std::min(columns, c + tile); ++j)
          target[j * rows + i] = source[i * columns + j];
}

template <class T>
void turn_parts(const lowering::Blocks& blocks, bool channels_outer, const std::byte* source,
                std::byte* target) {
  const std::int64_t rows = channels_outer ? blocks.channels : blocks.spatial;
  const std::int64_t columns = channels_outer ? blocks.spatial : blocks.channels;
  for (std::int64_t n = 0; n < blocks.batch; ++n)
    turn(reinterpret_cast<const T*>(source) + n * rows * columns, rows, columns,
         reinterpret_cast<T*>(target) + n * rows * columns);
}

}  // namespace

void copy_in_order(const Shape& shape, std::size_t element_bytes, lowering::Layout from,
                   const std::byte* source, lowering::Layout to, std::byte* target) {
  const auto bytes = static_cast<std::size_t>(element_count(shape)) * element_bytes;
  if (bytes == 0) return;
  if (lowering::same_order(shape, from, to)) {
    std::memcpy(target, source, bytes);
    return;
  }
  if (!from.plain() && !to.plain()) {
    std::vector<std::byte> plain(bytes);
    copy_in_order(shape, element_bytes, from, source, {}, plain.data());
    copy_in_order(shape, element_bytes, {}, plain.data(), to, target);
    return;
  }
  const lowering::Blocks blocks = lowering::blocks_of(shape, from.plain() ? to : from);
  switch (element_bytes) {
    case 1: return turn_parts<std::uint8_t>(blocks, from.plain(), source, target);
    case 2: return turn_parts<std::uint16_t>(blocks, from.plain(), source, target);
    case 4: return turn_parts<std::uint32_t>(blocks, from.plain(), source, target);
    default: return turn_parts<std::uint64_t>(blocks, from.plain(), source, target);
  }
}

std::vector<std::uint32_t> places_of(const Shape& shape, lowering::Layout layout) {
  if (lowering::same_order(shape, layout, {})) return {};
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(element_count(shape)));
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::vector<std::uint32_t> places(numbers.size());
  copy_in_order(shape, sizeof(std::uint32_t), layout, std::as_bytes(std::span(numbers)).data(), {},
                std::as_writable_bytes(std::span(places)).data());
  return places;
}

}  // namespace driftscope::gpu
