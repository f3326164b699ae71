#include "core/engines/fast/simd/winograd.hpp"

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/fast/simd/winograd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "core/engines/fast/simd/mul_add-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t lanes = hn::MaxLanes(FloatTag());
// Sums of a block fill the registers: of AVX-512 32, else 16, three of which are for factors. V8 spills
// some of twelve.
constexpr std::size_t block_vectors = 2;
constexpr std::size_t block_rows = HWY_MAX_BYTES >= 64 ? 12 : HWY_TARGET == HWY_WASM ? 4 : 6;
constexpr std::size_t panel = block_vectors * lanes;

HWY_INLINE FloatVector load(const float* from) { return hn::LoadU(FloatTag(), from); }
HWY_INLINE void store(FloatVector x, float* to) { hn::StoreU(x, FloatTag(), to); }
HWY_INLINE FloatVector times(float a, FloatVector x) { return hn::Mul(hn::Set(FloatTag(), a), x); }
HWY_INLINE FloatVector times_plus(float a, FloatVector x, FloatVector y) {
  return mul_add(hn::Set(FloatTag(), a), x, y);
}

// Bᵀ d of one column.
template <std::size_t n>
HWY_INLINE void transform_input(const FloatVector* d, FloatVector* to) {
  if constexpr (n == 4) {
    to[0] = hn::Sub(d[0], d[2]);
    to[1] = hn::Add(d[1], d[2]);
    to[2] = hn::Sub(d[2], d[1]);
    to[3] = hn::Sub(d[1], d[3]);
  } else if constexpr (n == 6) {
    const FloatVector even = times_plus(-4.0f, d[2], d[4]);
    const FloatVector odd = times_plus(-4.0f, d[1], d[3]);
    const FloatVector even2 = hn::Sub(d[4], d[2]);
    const FloatVector odd2 = hn::Sub(d[3], d[1]);
    to[0] = times_plus(4.0f, d[0], times_plus(-5.0f, d[2], d[4]));
    to[1] = hn::Add(even, odd);
    to[2] = hn::Sub(even, odd);
    to[3] = times_plus(2.0f, odd2, even2);
    to[4] = times_plus(-2.0f, odd2, even2);
    to[5] = times_plus(4.0f, d[1], times_plus(-5.0f, d[3], d[5]));
  } else {
    static_assert(n == 8);
    to[0] = times_plus(5.25f, hn::Sub(d[4], d[2]), hn::Sub(d[0], d[6]));
    to[7] = times_plus(5.25f, hn::Sub(d[3], d[5]), hn::Sub(d[7], d[1]));
    FloatVector even = times_plus(-4.25f, d[4], hn::Add(d[2], d[6]));
    FloatVector odd = times_plus(-4.25f, d[3], hn::Add(d[1], d[5]));
    to[1] = hn::Add(even, odd);
    to[2] = hn::Sub(even, odd);
    even = times_plus(0.25f, d[2], times_plus(-1.25f, d[4], d[6]));
    odd = times_plus(0.5f, d[1], times_plus(-2.5f, d[3], times(2.0f, d[5])));
    to[3] = hn::Add(even, odd);
    to[4] = hn::Sub(even, odd);
    even = times_plus(4.0f, d[2], times_plus(-5.0f, d[4], d[6]));
    odd = times_plus(2.0f, d[1], times_plus(-2.5f, d[3], times(0.5f, d[5])));
    to[5] = hn::Add(even, odd);
    to[6] = hn::Sub(even, odd);
  }
}

// Aᵀ x of one column.
template <std::size_t n, std::size_t m>
HWY_INLINE void transform_output(const FloatVector* x, FloatVector* to) {
  if constexpr (n == 4) {
    static_assert(m == 2);
    to[0] = hn::Add(x[0], hn::Add(x[1], x[2]));
    to[1] = hn::Sub(hn::Sub(x[1], x[2]), x[3]);
  } else {
    const FloatVector even = hn::Add(x[1], x[2]);
    const FloatVector odd = hn::Sub(x[1], x[2]);
    const FloatVector even2 = hn::Add(x[3], x[4]);
    const FloatVector odd2 = hn::Sub(x[3], x[4]);
    if constexpr (n == 6) {
      static_assert(m == 2 || m == 4);
      to[0] = hn::Add(x[0], hn::Add(even, even2));
      to[1] = times_plus(2.0f, odd2, odd);
      if constexpr (m == 4) {
        to[2] = times_plus(4.0f, even2, even);
        to[3] = times_plus(8.0f, odd2, odd);
      }
    } else {
      static_assert(n == 8 && m == 4);
      const FloatVector even3 = hn::Add(x[5], x[6]);
      const FloatVector odd3 = hn::Sub(x[5], x[6]);
      to[0] = hn::Add(hn::Add(x[0], even), hn::Add(even2, even3));
      to[1] = times_plus(0.5f, odd3, times_plus(2.0f, odd2, odd));
      to[2] = times_plus(0.25f, even3, times_plus(4.0f, even2, even));
      to[3] = times_plus(0.125f, odd3, times_plus(8.0f, odd2, odd));
    }
    to[m - 1] = hn::Add(to[m - 1], x[n - 1]);
  }
}

// Vectors that together cover `channels`, the last of which may overlap the one before.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t channels, const Body& body) {
  std::size_t c = 0;
  for (; c + lanes <= channels; c += lanes) body(c);
  if (c < channels) body(channels - lanes);
}

template <std::size_t n>
void input(const WinogradInput& it) {
  for_each_vector(it.channels, [&](std::size_t c) {
    HWY_ALIGN float half[n * n * lanes];
    for (std::size_t j = 0; j < n; ++j) {
      FloatVector d[n];
      FloatVector to[n];
      for (std::size_t i = 0; i < n; ++i) d[i] = load(it.pixels[i * n + j] + c);
      transform_input<n>(d, to);
      for (std::size_t i = 0; i < n; ++i) store(to[i], half + (i * n + j) * lanes);
    }
    for (std::size_t i = 0; i < n; ++i) {
      FloatVector d[n];
      FloatVector to[n];
      for (std::size_t j = 0; j < n; ++j) d[j] = load(half + (i * n + j) * lanes);
      transform_input<n>(d, to);
      for (std::size_t j = 0; j < n; ++j) store(to[j], it.v + (i * n + j) * it.element + c);
    }
  });
}

// NaN stays.
HWY_INLINE FloatVector clamped(FloatVector x, FloatVector min, FloatVector max) {
  x = hn::IfThenElse(hn::Lt(x, min), min, x);
  return hn::IfThenElse(hn::Gt(x, max), max, x);
}

template <std::size_t n, std::size_t m>
bool output(const WinogradOutput& it) {
  const FloatVector min = hn::Set(FloatTag(), it.min);
  const FloatVector max = hn::Set(FloatTag(), it.max);
  FloatVector zero = hn::Zero(FloatTag());  // x − x of all outputs: NaN if one is not finite
  for_each_vector(it.channels, [&](std::size_t c) {
    HWY_ALIGN float half[m * n * lanes];
    for (std::size_t j = 0; j < n; ++j) {
      FloatVector x[n];
      FloatVector to[m];
      for (std::size_t i = 0; i < n; ++i) x[i] = load(it.m + (i * n + j) * it.element + c);
      transform_output<n, m>(x, to);
      for (std::size_t i = 0; i < m; ++i) store(to[i], half + (i * n + j) * lanes);
    }
    const FloatVector bias = load(it.bias + c);
    for (std::size_t i = 0; i < m; ++i) {
      FloatVector x[n];
      FloatVector to[m];
      for (std::size_t j = 0; j < n; ++j) x[j] = load(half + (i * n + j) * lanes);
      transform_output<n, m>(x, to);
      for (std::size_t j = 0; j < m; ++j) {
        if (it.pixels[i * m + j] == nullptr) continue;
        FloatVector y = hn::Add(to[j], bias);
        zero = hn::Add(zero, hn::Sub(y, y));
        if (it.addends != nullptr) y = hn::Add(y, load(it.addends[i * m + j] + c));
        store(clamped(y, min, max), it.pixels[i * m + j] + c);
      }
    }
  });
  return hn::AllTrue(FloatTag(), hn::Eq(zero, zero));
}

template <std::size_t rows>
HWY_INLINE void product_block(const WinogradProduct& it, const float* v, const float* u, float* m) {
  FloatVector sums[rows][block_vectors];
  for (auto& row : sums)
    for (FloatVector& sum : row) sum = hn::Zero(FloatTag());
  for (std::size_t c = 0; c < it.depth; ++c) {
    FloatVector factors[block_vectors];
    for (std::size_t j = 0; j < block_vectors; ++j) factors[j] = load(u + c * panel + j * lanes);
    for (std::size_t r = 0; r < rows; ++r) {
      const FloatVector x = hn::Set(FloatTag(), v[r * it.v_row + c]);
      for (std::size_t j = 0; j < block_vectors; ++j) sums[r][j] = mul_add(x, factors[j], sums[r][j]);
    }
  }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < block_vectors; ++j) store(sums[r][j], m + r * it.m_row + j * lanes);
}

// Blocks of `rows` as long as there are tiles for them; returns the first tile that is left.
template <std::size_t rows>
HWY_INLINE std::size_t product_blocks(const WinogradProduct& it, std::size_t t, const float* u, float* m) {
  for (; t + rows <= it.tiles; t += rows) product_block<rows>(it, it.v + t * it.v_row, u, m + t * it.m_row);
  return t;
}

void product(const WinogradProduct& it) {
  for (std::size_t p = 0; p < it.panels; ++p) {
    const float* u = it.u + p * it.depth * panel;
    float* m = it.m + p * panel;
    std::size_t t = product_blocks<block_rows>(it, 0, u, m);
    if constexpr (block_rows > 6) t = product_blocks<6>(it, t, u, m);
    t = product_blocks<4>(it, t, u, m);
    t = product_blocks<2>(it, t, u, m);
    product_blocks<1>(it, t, u, m);
  }
}

WinogradKernels make_winograd_kernels() {
  WinogradKernels kernels;
  kernels.lanes = lanes;
  kernels.rows = block_rows;
  kernels.columns = panel;
  kernels.product = &product;
  kernels.inputs[4] = &input<4>;
  kernels.inputs[6] = &input<6>;
  kernels.inputs[8] = &input<8>;
  kernels.outputs[4][2] = &output<4, 2>;
  kernels.outputs[6][4] = &output<6, 4>;
  kernels.outputs[6][2] = &output<6, 2>;
  kernels.outputs[8][4] = &output<8, 4>;
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope::fast {

HWY_EXPORT(make_winograd_kernels);

WinogradKernels winograd_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_winograd_kernels), target.highway)();
}

}  // namespace driftscope::fast
#endif  // HWY_ONCE
