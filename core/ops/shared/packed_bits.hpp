// Unsigned numbers of 1, 2, 4 or 8 bits, packed into bytes from the low bits up, as ONNX Runtime stores
// weights and zero points. Clients: MatMulNBits, GatherBlockQuantized.
#pragma once

#include <cstdint>
#include <span>

namespace driftscope {

class PackedBits {
 public:
  PackedBits(std::span<const std::uint8_t> bytes, std::int64_t bits)
      : bytes_(bytes), bits_(bits), per_byte_(8 / bits), mask_(static_cast<std::uint8_t>((1 << bits) - 1)) {}

  /// Number `index` of those that begin at byte `first`.
  [[nodiscard]] std::uint8_t at(std::int64_t first, std::int64_t index) const {
    const std::uint8_t byte = bytes_[static_cast<std::size_t>(first + index / per_byte_)];
    return static_cast<std::uint8_t>(byte >> (index % per_byte_ * bits_)) & mask_;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::int64_t bits_;
  std::int64_t per_byte_;
  std::uint8_t mask_;
};

}  // namespace driftscope
