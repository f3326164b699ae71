// C += A·B in one fixed order: every element of C has one accumulator, k ascends, each product and
// each sum is rounded separately. SIMD goes across the columns of C, never along k, so that every
// width gives the same bits; C holds the accumulators, so k is cut into blocks.
//
// The same loops multiply integers: an element is then a pair of int16 (two neighbours along k) in 32
// bits, its product the sum of two products, and accumulators wrap around: the order does not matter.
// Clients: the strict kernels of Conv, Gemm and MatMul. It knows no operator and starts no threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope {

/// One block of work. T: float, or std::int32_t for pairs of int16 (A, B) and sums (C).
template <class T>
struct ProductBlock {
  /// A, packed: panels of ProductKernels::rows rows (the last may have fewer), each stored k by k.
  const T* a = nullptr;
  std::int64_t rows = 0;   ///< of A and C
  std::int64_t depth = 0;  ///< K
  /// Row k of B begins at b + offsets[k]: so packed panels, a matrix in memory, and the
  /// taps of a convolution all look the same.
  const T* b = nullptr;
  const std::ptrdiff_t* offsets = nullptr;
  /// Elements from one panel of ProductKernels::columns columns of B to the next.
  std::int64_t b_panel = 0;
  /// Initial values for the elements of each row; null: the contents of C.
  const T* start = nullptr;
  /// Read (unless `start` is given) and written. Columns are rounded up to whole vectors: B and C must be
  /// large enough.
  T* c = nullptr;
  std::int64_t c_stride = 0;  ///< elements from one row of C to the next
  std::int64_t columns = 0;
};

template <class T>
struct ProductKernels {
  int rows = 0;     ///< of a micro tile
  int columns = 0;  ///< of a micro tile
  int lanes = 0;    ///< elements in a vector
  void (*accumulate)(const ProductBlock<T>& block) = nullptr;
};

using GemmBlock = ProductBlock<float>;
using GemmKernels = ProductKernels<float>;
using PairKernels = ProductKernels<std::int32_t>;

[[nodiscard]] GemmKernels gemm_kernels(const SimdTarget& target);
[[nodiscard]] PairKernels pair_kernels(const SimdTarget& target);

/// Two int16 as an element of an integer product; `first` has the smaller k.
[[nodiscard]] constexpr std::int32_t pair_of(std::int32_t first, std::int32_t second) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(second) << 16) |
                                   (static_cast<std::uint32_t>(first) & 0xffffu));
}

}  // namespace driftscope
