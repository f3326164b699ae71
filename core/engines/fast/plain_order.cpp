#include "core/engines/fast/plain_order.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace driftscope::fast {

using namespace lowering;

namespace {

template <class T>
void turn_one_by_one(const Turn<T>& it) {
  for (std::size_t c = 0; c < it.channels; ++c)
    for (std::size_t s = 0; s < it.spatial; ++s)
      it.target[c * it.target_row + s] = it.source[s * it.source_row + c];
}

// `count` elements of ONNX's order from `first` on.
template <class T>
void copy_elements(const Blocks& blocks, void (*turn)(const Turn<T>&), const T* source, std::size_t first,
                   T* target, std::size_t count) {
  const auto channels = static_cast<std::size_t>(blocks.channels);
  const auto spatial = static_cast<std::size_t>(blocks.spatial);
  while (count > 0) {
    const std::size_t row = first / spatial;  // a channel of one of the batch
    const std::size_t at = first % spatial;
    const std::size_t channel = row % channels;
    // A part of one row, or as many whole ones as this one of the batch has left.
    const bool whole = at == 0 && count >= spatial;
    const std::size_t rows = whole ? std::min(count / spatial, channels - channel) : 1;
    const std::size_t columns = whole ? spatial : std::min(count, spatial - at);
    turn({source + (row - channel) * spatial + at * channels + channel, channels, target, spatial, columns,
          rows});
    first += rows * columns;
    target += rows * columns;
    count -= rows * columns;
  }
}

template <class T>
void copy_as(const Blocks& blocks, void (*turn)(const Turn<T>&), const std::byte* source,
             std::uint64_t offset, std::span<std::byte> target) {
  copy_elements(blocks, turn, reinterpret_cast<const T*>(source),
                static_cast<std::size_t>(offset / sizeof(T)), reinterpret_cast<T*>(target.data()),
                target.size() / sizeof(T));
}

}  // namespace

void copy_plain_order(const Blocks& blocks, std::size_t element_bytes, Turn32 turn, const std::byte* source,
                      std::uint64_t offset, std::span<std::byte> target) {
  if (target.empty()) return;
  const std::uint64_t end = offset + target.size();
  const bool aligned = reinterpret_cast<std::uintptr_t>(target.data()) % element_bytes == 0;
  if (!aligned || offset % element_bytes != 0 || end % element_bytes != 0) {
    const std::uint64_t begin = offset / element_bytes * element_bytes;
    std::vector<std::byte> around(
        static_cast<std::size_t>((end + element_bytes - 1) / element_bytes * element_bytes - begin));
    copy_plain_order(blocks, element_bytes, turn, source, begin, around);
    std::memcpy(target.data(), around.data() + (offset - begin), target.size());
    return;
  }
  switch (element_bytes) {
    case 1: return copy_as<std::uint8_t>(blocks, &turn_one_by_one, source, offset, target);
    case 2: return copy_as<std::uint16_t>(blocks, &turn_one_by_one, source, offset, target);
    case 4: return copy_as<std::uint32_t>(blocks, turn, source, offset, target);
    default: return copy_as<std::uint64_t>(blocks, &turn_one_by_one, source, offset, target);
  }
}

}  // namespace driftscope::fast
