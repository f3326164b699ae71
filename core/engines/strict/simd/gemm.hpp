// C += A·B in one fixed order: every element of C has one accumulator, k ascends, each product and
// each sum is rounded by itself. SIMD goes across the columns of C, never along k, so that every
// width gives the same bits; C holds the accumulators, so k may be cut into blocks.
// Clients: the strict kernels of Conv, Gemm and MatMul. It knows no operator and starts no threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope {

/// One block of work.
struct GemmBlock {
  /// A, packed: panels of GemmKernels::rows rows (the last may have fewer), each stored k by k.
  const float* a = nullptr;
  std::int64_t rows = 0;   ///< of A and C
  std::int64_t depth = 0;  ///< K
  /// Row k of B begins at b + offsets[k]: packed panels, a matrix as it lies in memory, and the
  /// taps of a convolution all look the same.
  const float* b = nullptr;
  const std::ptrdiff_t* offsets = nullptr;
  /// Floats from one panel of GemmKernels::columns columns of B to the next.
  std::int64_t b_panel = 0;
  /// Read and written. Columns are rounded up to whole vectors: B and C must reach as far.
  float* c = nullptr;
  std::int64_t c_stride = 0;  ///< floats from one row of C to the next
  std::int64_t columns = 0;
};

struct GemmKernels {
  int rows = 0;     ///< of a micro tile
  int columns = 0;  ///< of a micro tile
  int lanes = 0;    ///< floats in a vector
  void (*accumulate)(const GemmBlock& block) = nullptr;
};

[[nodiscard]] GemmKernels gemm_kernels(const SimdTarget& target);

}  // namespace driftscope
