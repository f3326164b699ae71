#include "core/curves/crc32c.hpp"

#include <array>
#include <bit>

namespace driftscope {
namespace {

constexpr std::array<std::uint32_t, 256> castagnoli = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0u ? 0x82f63b78u : 0u);
    table[i] = crc;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte byte : bytes)
    crc = castagnoli[(crc ^ static_cast<std::uint32_t>(byte)) & 0xffu] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

}  // namespace driftscope
