#include "core/engines/strict/simd/gemm.hpp"

#include <algorithm>
#include <type_traits>

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/strict/simd/gemm.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The micro tile keeps its accumulators, one row of B and one element of A in registers: with 32
// registers 8 × 3 vectors, with 16 registers 6 × 2.
#if HWY_TARGET == HWY_AVX3
constexpr int tile_rows = 8;
constexpr int tile_vectors = 3;
#else
constexpr int tile_rows = 6;
constexpr int tile_vectors = 2;
#endif

// A block of k whose B panel stays in the first-level cache for all rows of A.
constexpr std::int64_t depth_block = 256;

struct FloatProducts {
  template <class V>
  HWY_INLINE V operator()(V sum, V left, V right) const {
    return hn::Add(sum, hn::Mul(left, right));
  }
};

// Dot products of the int16 pairs in each lane. Only −2¹⁵·−2¹⁵ twice can overflow int32, which no
// client has.
struct PairProducts {
  template <class V>
  HWY_INLINE V operator()(V sum, V left, V right) const {
    [[maybe_unused]] const hn::DFromV<V> d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_WASM
    const hn::Repartition<std::int16_t, decltype(d)> pairs;
    V unused = sum;
    return hn::ReorderWidenMulAccumulate(d, hn::BitCast(pairs, left), hn::BitCast(pairs, right), sum, unused);
#else
    // On other targets that operation spreads the two products over several vectors.
    const auto low = [&](V x) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(x)); };
    const auto high = [&](V x) { return hn::ShiftRight<16>(x); };
    return hn::Add(sum, hn::Add(hn::Mul(low(left), low(right)), hn::Mul(high(left), high(right))));
#endif
  }
};

template <class T>
using ProductsOf = std::conditional_t<std::is_same_v<T, float>, FloatProducts, PairProducts>;

/// C[R, V·lanes·P] += A[R, depth]·B: P panels of V vectors side by side. `start`: instead of C.
template <int R, int V, int P, class T>
HWY_INLINE void micro_tile(std::int64_t depth, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                           std::int64_t b_panel, const std::ptrdiff_t* HWY_RESTRICT offsets,
                           const T* HWY_RESTRICT start, T* HWY_RESTRICT c, std::int64_t c_stride) {
  constexpr int width = V * P;
  const ProductsOf<T> add_products;
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  hn::Vec<decltype(d)> sum[R][width];
  if (start != nullptr) {
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      HWY_UNROLL(8)
      for (int j = 0; j < width; ++j) sum[r][j] = hn::Set(d, start[r]);
    }
  } else {
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      HWY_UNROLL(8)
      for (int j = 0; j < width; ++j) sum[r][j] = hn::LoadU(d, c + r * c_stride + j * lanes);
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    const T* HWY_RESTRICT row = b + offsets[k];
    hn::Vec<decltype(d)> right[width];
    HWY_UNROLL(8)
    for (int j = 0; j < width; ++j) right[j] = hn::LoadU(d, row + (j / V) * b_panel + (j % V) * lanes);
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      const auto left = hn::Set(d, a[r]);
      HWY_UNROLL(8)
      for (int j = 0; j < width; ++j) sum[r][j] = add_products(sum[r][j], left, right[j]);
    }
    a += R;
  }
  HWY_UNROLL(8)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(8)
    for (int j = 0; j < width; ++j) hn::StoreU(sum[r][j], d, c + r * c_stride + j * lanes);
  }
}

/// Panels taken at once: with few rows, more columns keep the adders busy.
template <int R>
constexpr int panels_at_once() {
  return R == 1 ? 4 : R <= 3 ? 2 : 1;
}

/// R rows of C over all columns of the block, for k in [begin, begin + depth).
template <int R, class T>
void row_panel(const ProductBlock<T>& block, const T* a, std::int64_t begin, std::int64_t depth,
               const T* start, T* c) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  constexpr std::int64_t panel = tile_vectors * lanes;
  constexpr int several = panels_at_once<R>();
  const std::ptrdiff_t* offsets = block.offsets + begin;
  const std::int64_t vectors = (block.columns + lanes - 1) / lanes;
  const std::int64_t panels = vectors / tile_vectors;
  std::int64_t p = 0;
  for (; p + several <= panels; p += several)
    micro_tile<R, tile_vectors, several>(depth, a, block.b + p * block.b_panel, block.b_panel, offsets, start,
                                         c + p * panel, block.c_stride);
  for (; p < panels; ++p)
    micro_tile<R, tile_vectors, 1>(depth, a, block.b + p * block.b_panel, block.b_panel, offsets, start,
                                   c + p * panel, block.c_stride);
  const T* b = block.b + p * block.b_panel;
  const std::int64_t rest = vectors - panels * tile_vectors;
  if (rest == 2)
    micro_tile<R, 2, 1>(depth, a, b, block.b_panel, offsets, start, c + p * panel, block.c_stride);
  if (rest == 1)
    micro_tile<R, 1, 1>(depth, a, b, block.b_panel, offsets, start, c + p * panel, block.c_stride);
}

template <class T>
void accumulate(const ProductBlock<T>& block) {
  std::int64_t begin = 0;
  do {  // even if k is empty: C then gets its initial values
    const std::int64_t depth = std::min(depth_block, block.depth - begin);
    for (std::int64_t row = 0; row < block.rows; row += tile_rows) {
      const std::int64_t rows = std::min<std::int64_t>(tile_rows, block.rows - row);
      const T* a = block.a + row * block.depth + begin * rows;
      const T* start = begin == 0 && block.start != nullptr ? block.start + row : nullptr;
      T* c = block.c + row * block.c_stride;
      switch (rows) {
        case 1: row_panel<1>(block, a, begin, depth, start, c); break;
        case 2: row_panel<2>(block, a, begin, depth, start, c); break;
        case 3: row_panel<3>(block, a, begin, depth, start, c); break;
        case 4: row_panel<4>(block, a, begin, depth, start, c); break;
        case 5: row_panel<5>(block, a, begin, depth, start, c); break;
        case 6: row_panel<6>(block, a, begin, depth, start, c); break;
#if HWY_TARGET == HWY_AVX3
        case 7: row_panel<7>(block, a, begin, depth, start, c); break;
        case 8: row_panel<8>(block, a, begin, depth, start, c); break;
#endif
        default: break;
      }
    }
    begin += depth_block;
  } while (begin < block.depth);
}

template <class T>
ProductKernels<T> make_kernels() {
  constexpr int lanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  return {tile_rows, tile_vectors * lanes, lanes, &accumulate<T>};
}
GemmKernels make_gemm_kernels() { return make_kernels<float>(); }
PairKernels make_pair_kernels() { return make_kernels<std::int32_t>(); }

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope {

HWY_EXPORT(make_gemm_kernels);
HWY_EXPORT(make_pair_kernels);

GemmKernels gemm_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_gemm_kernels), target.highway)();
}

PairKernels pair_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_pair_kernels), target.highway)();
}

}  // namespace driftscope
#endif  // HWY_ONCE
