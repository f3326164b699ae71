// Bytes that need not lie in this program's memory: in a browser a model stays outside of the wasm heap.
// Read piece by piece. Clients: the ONNX reader, the session service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

namespace driftscope {

struct ByteSource {
  std::uint64_t size = 0;
  /// Fills `target` with the bytes from `offset` on, which must lie inside.
  std::function<void(std::uint64_t offset, std::span<std::byte> target)> read;
  /// Reads that begin and end at multiples of this are fast.
  std::uint64_t grain = 1;

  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t count) const {
    return offset <= size && count <= size - offset;
  }

  /// The `count` bytes from `offset` on, which must lie inside. The result does not refer to this object.
  [[nodiscard]] ByteSource part(std::uint64_t offset, std::uint64_t count) const {
    return {count, [read = read, offset](std::uint64_t at, std::span<std::byte> target) {
              read(offset + at, target);
            }};
  }
};

/// Bytes that outlive the source.
[[nodiscard]] inline ByteSource source_of(std::span<const std::byte> bytes) {
  return {bytes.size(), [bytes](std::uint64_t offset, std::span<std::byte> target) {
            if (!target.empty())
              std::memcpy(target.data(), bytes.data() + static_cast<std::size_t>(offset), target.size());
          }};
}

}  // namespace driftscope
