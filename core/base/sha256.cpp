#include "core/base/sha256.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/simd/sha256_blocks.hpp"

namespace driftscope {

namespace {

constexpr Sha256State first_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::size_t piece_bytes = std::size_t{1} << 20;  // whole blocks

/// `rest`: what is left of `size` bytes behind the last whole block.
std::string finish(Sha256State state, std::span<const std::byte> rest, std::uint64_t size) {
  std::array<std::byte, 128> tail{};
  if (!rest.empty()) std::memcpy(tail.data(), rest.data(), rest.size());
  tail[rest.size()] = std::byte{0x80};
  const std::size_t padded = rest.size() < 56 ? 64 : 128;
  const std::uint64_t bits = size * 8;
  for (std::size_t i = 0; i < 8; ++i) tail[padded - 1 - i] = static_cast<std::byte>((bits >> (8 * i)) & 0xff);
  sha256_compress(state, tail.data(), padded / 64);

  std::string hex;
  hex.reserve(64);
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[(word >> shift) & 0xf];
  return hex;
}

}  // namespace

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256State state = first_state;
  const std::size_t whole = bytes.size() / 64 * 64;
  sha256_compress(state, bytes.data(), whole / 64);
  return finish(state, bytes.subspan(whole), bytes.size());
}

std::string sha256_hex(const ByteSource& source) {
  Sha256State state = first_state;
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min<std::uint64_t>(source.size, piece_bytes)));
  std::uint64_t at = 0;
  std::size_t count = 0;
  for (; at < source.size; at += count) {
    count = static_cast<std::size_t>(std::min<std::uint64_t>(source.size - at, piece_bytes));
    source.read(at, std::span(piece).first(count));
    sha256_compress(state, piece.data(), count / 64);
  }
  return finish(state, std::span(piece).subspan(count / 64 * 64, count % 64), source.size);
}

}  // namespace driftscope
