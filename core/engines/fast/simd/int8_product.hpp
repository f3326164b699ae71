// Products of bytes with int8 weights in sums of 32 bits, four at a time, on processors that have an
// instruction for it (AVX-512 VNNI). Client: int8_product.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// One panel of columns: y[r][n] = Σ a[r][k]·b[k][n] + column_terms[n] + zeros[n]·row_terms[r], which wraps
/// around.
struct Int8Panel {
  const std::int8_t* b = nullptr;  ///< [group of four k][column][4]
  std::size_t groups = 0;
  const std::uint8_t* a = nullptr;  ///< rows of `a_stride` bytes, 4·groups of them are read
  std::size_t a_stride = 0;
  std::size_t rows = 0;
  const std::int32_t* row_terms = nullptr;
  const std::int32_t* column_terms = nullptr;  ///< as many as a panel has columns
  const std::int32_t* zeros = nullptr;         ///< likewise
  std::int32_t* y = nullptr;
  std::size_t y_stride = 0;
  std::size_t columns = 0;  ///< that are stored
};

struct Int8Kernels {
  std::size_t columns = 0;  ///< of a panel; 0: this processor has none
  void (*run)(const Int8Panel& panel) = nullptr;
  /// Copies a row of `depth` bytes, with the bits of `flip` turned; returns its sum.
  std::uint32_t (*copy_row)(const std::uint8_t* from, std::uint8_t flip, std::size_t depth,
                            std::uint8_t* to) = nullptr;
};

[[nodiscard]] Int8Kernels int8_kernels(const SimdTarget& target);

}  // namespace driftscope::fast
