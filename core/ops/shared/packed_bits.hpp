// Unsigned numbers of 1, 2, 4 or 8 bits, packed into bytes from the low bits up, as ONNX Runtime stores
// weights and zero points. Clients: MatMulNBits, GatherBlockQuantized.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace driftscope {

class PackedBits {
 public:
  /// `bits`: a power of two, at most 8.
  PackedBits(std::span<const std::uint8_t> bytes, std::int64_t bits)
      : bytes_(bytes.data()),
        width_(std::countr_zero(static_cast<unsigned>(bits))),
        mask_((1U << bits) - 1) {}

  /// Number `index` of those that begin at byte `first`.
  [[nodiscard]] std::uint8_t at(std::int64_t first, std::int64_t index) const {
    const std::int64_t bit = index << width_;
    return static_cast<std::uint8_t>((static_cast<unsigned>(bytes_[first + (bit >> 3)]) >> (bit & 7)) &
                                     mask_);
  }

 private:
  const std::uint8_t* bytes_;
  int width_;  // 2^width bits each
  unsigned mask_;
};

}  // namespace driftscope
