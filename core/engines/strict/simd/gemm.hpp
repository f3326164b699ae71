// C += A·B in one fixed order: every element of C has one accumulator, k ascends, each product and
// each sum is rounded by itself. SIMD goes across the columns of C, never along k, so that every
// width gives the same bits; C holds the accumulators, so k may be cut into blocks.
// Clients: the strict kernels of Conv, Gemm and MatMul. It knows no operator and starts no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope {

/// A, packed for one width: panels of `rows` rows (the last has fewer), each stored k by k.
struct PackedRows {
  std::vector<float> values;
  std::int64_t rows = 0;   ///< of A
  std::int64_t depth = 0;  ///< K

  /// The panel that begins at `row`, a multiple of the micro kernel's rows.
  [[nodiscard]] const float* panel(std::int64_t row) const { return values.data() + row * depth; }
};

/// One block of work. Row k of B begins at b + offsets[k]: packed panels, a matrix as it lies in
/// memory, and the taps of a convolution all look the same.
struct GemmBlock {
  const float* a = nullptr;         ///< packed rows, see PackedRows
  std::int64_t rows = 0;            ///< of A and C
  std::int64_t depth = 0;           ///< K of the whole panel
  const float* b = nullptr;
  const std::ptrdiff_t* offsets = nullptr;  ///< depth of them
  float* c = nullptr;               ///< read and written
  std::int64_t c_stride = 0;        ///< floats from one row of C to the next
  std::int64_t columns = 0;         ///< rounded up to whole vectors: B and C must reach as far
  std::int64_t b_panel = 0;         ///< floats from one panel of B columns to the next
};

struct GemmKernels {
  int rows = 0;     ///< of a micro tile: A is packed in panels of as many
  int columns = 0;  ///< of a micro tile: B is packed in panels of as many
  int lanes = 0;    ///< floats in a vector
  void (*accumulate)(const GemmBlock& block) = nullptr;
};

[[nodiscard]] GemmKernels gemm_kernels(const SimdTarget& target);

/// Packs A[rows, depth]; element (i, k) lies at a[i·row_stride + k·depth_stride].
[[nodiscard]] PackedRows pack_rows(const GemmKernels& kernels, const float* a, std::int64_t rows,
                                   std::int64_t depth, std::int64_t row_stride,
                                   std::int64_t depth_stride);

}  // namespace driftscope
