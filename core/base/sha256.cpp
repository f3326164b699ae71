#include "core/base/sha256.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "core/base/sha256_blocks.hpp"

namespace driftscope {

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const std::size_t offset = bytes.size() / 64 * 64;
  sha256_compress(state, bytes.data(), bytes.size() / 64);

  std::array<std::byte, 128> tail{};
  const std::size_t rest = bytes.size() - offset;
  if (rest > 0) std::memcpy(tail.data(), bytes.data() + offset, rest);
  tail[rest] = std::byte{0x80};
  const std::size_t padded = rest < 56 ? 64 : 128;
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (std::size_t i = 0; i < 8; ++i)
    tail[padded - 1 - i] = static_cast<std::byte>((bits >> (8 * i)) & 0xff);
  sha256_compress(state, tail.data(), padded / 64);

  std::string hex;
  hex.reserve(64);
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[(word >> shift) & 0xf];
  return hex;
}

}  // namespace driftscope
