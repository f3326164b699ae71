// A value whose channels are innermost in memory, read in ONNX's order piece by piece: what is written to a
// file need not exist in both orders. Client: the session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/engines/fast/simd/turn.hpp"
#include "core/lowering/layout.hpp"

namespace driftscope::fast {

/// Fills `target` with the bytes of the value in ONNX's order from byte `offset` on, which must lie inside.
/// `source` has `element_bytes` each (1, 2, 4 or 8) in the order of a layout with these blocks.
void copy_plain_order(const lowering::Blocks& blocks, std::size_t element_bytes, Turn32 turn,
                      const std::byte* source, std::uint64_t offset, std::span<std::byte> target);

/// Bytes of as many channels as are turned together: of a piece it is best to have whole ones.
[[nodiscard]] inline std::uint64_t plain_order_grain(const lowering::Blocks& blocks,
                                                     std::size_t element_bytes) {
  return static_cast<std::uint64_t>(blocks.spatial) * turned_together * element_bytes;
}

}  // namespace driftscope::fast
