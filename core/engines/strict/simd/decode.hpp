// Weights stored in a few bits, as float32. Client: the strict kernel of MatMulNBits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope {

/// Rows k of a panel of `width` columns (a multiple of the vector): scales and zero points are rows of the
/// same width, of which row k has that of number groups[k].
struct StepsBlock {
  const std::uint8_t* steps = nullptr;
  const std::int32_t* groups = nullptr;
  const float* scales = nullptr;
  const float* zeros = nullptr;
  std::size_t rows = 0;
  std::size_t width = 0;
};

/// out[k·width + j] = (step − zero) · scale: each operation is rounded.
struct DecodeKernels {
  using Decode = void (*)(const StepsBlock& block, float* out);
  Decode bytes = nullptr;
  /// Two rows in one of bytes, row 2i in the low bits; the last may be alone.
  Decode nibbles = nullptr;
};

[[nodiscard]] DecodeKernels decode_kernels(const SimdTarget& target);

}  // namespace driftscope
