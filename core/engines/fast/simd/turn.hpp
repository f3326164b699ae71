// Transposes: elements of 32 bits with the channels innermost, written channel by channel.
// Client: plain_order.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// Of `spatial` rows of the source `channels` elements each; in the target every channel is a row.
template <class T>
struct Turn {
  const T* source = nullptr;
  std::size_t source_row = 0;  ///< elements from one row to the next
  T* target = nullptr;
  std::size_t target_row = 0;
  std::size_t spatial = 0;
  std::size_t channels = 0;
};

/// Elements of a cache line: whole ones are read and written.
inline constexpr std::size_t turned_together = 16;

using Turn32 = void (*)(const Turn<std::uint32_t>& it);

[[nodiscard]] Turn32 turn32(const SimdTarget& target);

}  // namespace driftscope::fast
