// Micro kernels with XNNPACK's interface for one row, float32, 8 columns per block of weights: four blocks at
// once, so that eight sums keep the multiply-add units busy and four streams of weights are read
// side by side; a fully connected layer of one sample reads each weight once. The products of an element
// are added in the order of all of XNNPACK's kernels. Client: xnnpack_start.c; compiled once for each kind
// of SIMD.
#include "core/engines/fast/tuning/web/f32_row_wasm.h"

#include <wasm_simd128.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#define BLOCKS 4

#ifdef __wasm_relaxed_simd__
#define MUL_ADD(a, b, c) wasm_f32x4_relaxed_madd(a, b, c)
#else
#define MUL_ADD(a, b, c) wasm_f32x4_add(c, wasm_f32x4_mul(a, b))
#endif

// NaN stays NaN: pmax and pmin return their first operand then.
INLINE v128_t clamp(v128_t x, float low, float high) {
  x = wasm_f32x4_pmax(x, wasm_f32x4_splat(low));
  return wasm_f32x4_pmin(x, wasm_f32x4_splat(high));
}

// The first `columns` ≤ 8 columns of one block.
INLINE void store(const v128_t sums[2], size_t columns, float* c) {
  if (columns >= 8) {
    wasm_v128_store(c, sums[0]);
    wasm_v128_store(c + 4, sums[1]);
    return;
  }
  float all[8];
  wasm_v128_store(all, sums[0]);
  wasm_v128_store(all + 4, sums[1]);
  for (size_t i = 0; i < columns; ++i) c[i] = all[i];
}

// `blocks` blocks of weights, each a bias and `depth` rows of 8; returns where the next begins.
INLINE const float* row_of_blocks(int blocks, size_t columns, size_t depth, const float* a, const float* w,
                                  float* c, size_t cn_stride, int clamped, float low, float high) {
  const size_t block = 8 * (depth + 1);
  v128_t sums[BLOCKS][2];
  UNROLL for (int i = 0; i < blocks; ++i) UNROLL for (int v = 0; v < 2; ++v) sums[i][v] =
      wasm_v128_load(w + (size_t)i * block + 4 * v);
  for (size_t k = 0; k < depth; ++k) {
    const float* row = w + 8 * (k + 1);
    const v128_t x = wasm_v128_load32_splat(a + k);
    UNROLL for (int i = 0; i < blocks; ++i) UNROLL for (int v = 0; v < 2; ++v) sums[i][v] =
        MUL_ADD(x, wasm_v128_load(row + (size_t)i * block + 4 * v), sums[i][v]);
  }
  UNROLL for (int i = 0; i < blocks; ++i) {
    if (clamped) UNROLL for (int v = 0; v < 2; ++v) sums[i][v] = clamp(sums[i][v], low, high);
    store(sums[i], columns - 8 * (size_t)i, c);
    c = (float*)((char*)c + cn_stride);
  }
  return w + (size_t)blocks * block;
}

INLINE void row(size_t nc, size_t kc, const float* a, const float* w, float* c, size_t cn_stride, int clamped,
                float low, float high) {
  const size_t depth = kc / sizeof(float);
  while (nc > 8 * (BLOCKS - 1)) {
    w = row_of_blocks(BLOCKS, nc, depth, a, w, c, cn_stride, clamped, low, high);
    if (nc <= 8 * BLOCKS) return;
    nc -= 8 * BLOCKS;
    c = (float*)((char*)c + BLOCKS * cn_stride);
  }
  while (nc > 0) {
    w = row_of_blocks(1, nc, depth, a, w, c, cn_stride, clamped, low, high);
    if (nc <= 8) return;
    nc -= 8;
    c = (float*)((char*)c + cn_stride);
  }
}

void ds_f32_gemm_1x8(DS_GEMM_PARAMETERS, const void* params) {
  (void)mr, (void)a_stride, (void)cm_stride, (void)params;
  row(nc, kc, a, w, c, cn_stride, 0, 0.0f, 0.0f);
}

void ds_f32_gemm_relu_1x8(DS_GEMM_PARAMETERS, const void* params) {
  (void)mr, (void)a_stride, (void)cm_stride, (void)params;
  row(nc, kc, a, w, c, cn_stride, 1, 0.0f, __builtin_inff());
}

void ds_f32_gemm_minmax_1x8(DS_GEMM_PARAMETERS, const union xnn_f32_minmax_params* params) {
  (void)mr, (void)a_stride, (void)cm_stride;
  row(nc, kc, a, w, c, cn_stride, 1, params->scalar.min, params->scalar.max);
}
