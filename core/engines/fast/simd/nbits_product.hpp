// A few rows times weights of 4 or 8 bits, which are decoded in registers: what a language model does for
// each token. Client: nbits_product.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// Where the zero points are. `middle`: all are 2^(bits−1). Then number i of a word is used where it stands
/// in it, as 2^(bits·i) times itself, and the row holds 2^(−bits·i) times its number.
enum class NBitsZeros { given, middle };

/// One panel of columns: for each block of K its scales and, if they are given, its zero points (float32, one
/// a column), then words (32 bits, one a column) of numbers that follow one another by K, the first in the
/// low bits.
struct NBitsPanel {
  const std::uint32_t* data = nullptr;
  std::size_t blocks = 0;
  std::size_t words = 0;     ///< of a block and column
  const float* a = nullptr;  ///< rows, padded with zeros to whole blocks
  std::size_t a_stride = 0;
  std::size_t rows = 0;
  const float* factors = nullptr;  ///< of the rows: y = factor · product + bias
  const float* bias = nullptr;     ///< null, or one of every column of the panel
  float* y = nullptr;
  std::size_t y_stride = 0;
  std::size_t columns = 0;  ///< that exist
};

struct NBitsKernels {
  std::size_t columns = 0;  ///< of a panel
  void (*nibbles)(const NBitsPanel& panel, NBitsZeros zeros) = nullptr;
  void (*bytes)(const NBitsPanel& panel, NBitsZeros zeros) = nullptr;
};

[[nodiscard]] NBitsKernels nbits_kernels(const SimdTarget& target);

}  // namespace driftscope::fast
