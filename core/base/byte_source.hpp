// Bytes that need not lie in this program's memory: in a browser a model stays outside of the wasm heap.
// Read piece by piece. Clients: the ONNX reader, the session service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>

namespace driftscope {

/// The `count` bytes from `offset` on, which must lie inside, if they are one after the other and the
/// `behind` bytes after them can be read as well; they stay as they are while the pointer lives. Else null.
using FindInPlace = std::function<std::shared_ptr<const std::byte>(std::uint64_t offset, std::uint64_t count,
                                                                   std::size_t behind)>;

struct ByteSource {
  std::uint64_t size = 0;
  /// Fills `target` with the bytes from `offset` on, which must lie inside.
  std::function<void(std::uint64_t offset, std::span<std::byte> target)> read;
  /// Reads that begin and end at multiples of this are fast.
  std::uint64_t grain = 1;
  /// Where the bytes are in this program's memory, or mapped; else absent.
  FindInPlace in_place = {};

  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t count) const {
    return offset <= size && count <= size - offset;
  }

  /// The `count` bytes from `offset` on, which must lie inside. The result does not refer to this object.
  [[nodiscard]] ByteSource part(std::uint64_t offset, std::uint64_t count) const {
    ByteSource source;
    source.size = count;
    source.read = [read = read, offset](std::uint64_t at, std::span<std::byte> target) {
      read(offset + at, target);
    };
    if (in_place)
      source.in_place = [in_place = in_place, offset](std::uint64_t at, std::uint64_t wanted,
                                                      std::size_t behind) {
        return in_place(offset + at, wanted, behind);
      };
    return source;
  }
};

/// Bytes that outlive the source.
[[nodiscard]] inline ByteSource source_of(std::span<const std::byte> bytes) {
  ByteSource source;
  source.size = bytes.size();
  source.read = [bytes](std::uint64_t offset, std::span<std::byte> target) {
    if (!target.empty())
      std::memcpy(target.data(), bytes.data() + static_cast<std::size_t>(offset), target.size());
  };
  return source;
}

}  // namespace driftscope
