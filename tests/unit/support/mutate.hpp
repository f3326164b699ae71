// Damages bytes at random, like bad disks, truncated downloads and attackers. Clients: tests of readers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/rng.hpp"

namespace driftscope::test {

/// One to eight of: flipped bits, a cut, a byte replaced by an extreme, bytes removed, inserted or
/// copied from elsewhere.
inline std::vector<std::byte> mutated(std::vector<std::byte> bytes, Rng& rng) {
  const auto place = [&](std::size_t size) { return static_cast<std::ptrdiff_t>(rng.below(size)); };
  const std::uint64_t changes = 1 + rng.below(8);
  for (std::uint64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const std::ptrdiff_t at = place(bytes.size());
    const std::size_t rest = bytes.size() - static_cast<std::size_t>(at);
    const auto length = static_cast<std::ptrdiff_t>(1 + rng.below(std::min<std::size_t>(rest, 16)));
    auto& byte = bytes[static_cast<std::size_t>(at)];
    switch (rng.below(8)) {
      case 0: bytes.resize(static_cast<std::size_t>(at)); break;
      case 1: bytes.erase(bytes.begin() + at, bytes.begin() + at + length); break;
      case 2: bytes.insert(bytes.begin() + at, std::byte{0xff}); break;
      case 3: {
        const auto from = place(bytes.size() - static_cast<std::size_t>(length) + 1);
        std::copy_n(bytes.begin() + from, length, bytes.begin() + at);
        break;
      }
      case 4: byte = rng.below(2) == 0 ? std::byte{0xff} : std::byte{0x00}; break;
      default: byte ^= static_cast<std::byte>(1u << rng.below(8)); break;
    }
  }
  return bytes;
}

}  // namespace driftscope::test
