// Micro kernels with XNNPACK's interface, float32, with as many sums as 32 registers hold: a row of weights,
// which a 3x3 convolution reads from the second-level cache, serves up to 12 rows (XNNPACK's own: 8). The
// products of an element are added in the order of all its kernels. Client: xnnpack_start.c.
#include "core/engines/fast/tuning/native/f32_tiles_avx512.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
// Weights are prefetched when the first rows need them. ResNet-18, VGG-16 and ResNet-20 on a
// Xeon: without 29.6, 16.0 and 0.56 ms, 2 kB ahead 25.9, 16.3 and 0.56, 8 kB 26.5, 14.3 and 0.55.
#define PREFETCHED_BYTES 8192
#define MOST_ROWS 13
#define MOST_VECTORS 2

typedef __m512 Sums[MOST_ROWS][MOST_VECTORS];

// All rows begin with the bias; returns where the weights begin.
INLINE const float* begin(int rows, int vectors, const float* bias, Sums sums) {
  UNROLL for (int r = 0; r < rows; ++r) UNROLL for (int v = 0; v < vectors; ++v) sums[r][v] =
      _mm512_load_ps(bias + 16 * v);
  return bias + 16 * vectors;
}

// sums[r] += a[r][k] · w[0] for the next k.
INLINE void add_row(int rows, int vectors, const float* const a[MOST_ROWS], size_t k, const float* w,
                    Sums sums) {
  __m512 weights[MOST_VECTORS];
  UNROLL for (int v = 0; v < vectors; ++v) {
    weights[v] = _mm512_load_ps(w + 16 * v);
    _mm_prefetch((const char*)(w + 16 * v) + PREFETCHED_BYTES, _MM_HINT_T0);
  }
  UNROLL for (int r = 0; r < rows; ++r) {
    const __m512 x = _mm512_set1_ps(a[r][k]);
    UNROLL for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_fmadd_ps(x, weights[v], sums[r][v]);
  }
}

// k ascending; returns the end of w. Four at a time: the exit of a loop of 16 is seldom predicted.
INLINE const float* add_products(int rows, int vectors, const float* const a[MOST_ROWS], size_t depth,
                                 const float* w, Sums sums) {
  size_t k = 0;
  for (; k + 4 <= depth; k += 4)
    UNROLL for (int i = 0; i < 4; ++i, w += 16 * vectors) add_row(rows, vectors, a, k + (size_t)i, w, sums);
  for (; k < depth; ++k, w += 16 * vectors) add_row(rows, vectors, a, k, w, sums);
  return w;
}

// The first `used` rows and `columns` columns, clamped. NaN stays NaN: max and min return their second
// operand then.
INLINE void store(int rows, int vectors, Sums sums, size_t used, size_t columns, float* c, size_t c_stride,
                  const union xnn_f32_minmax_params* params) {
  const __m512 low = _mm512_set1_ps(params->scalar.min);
  const __m512 high = _mm512_set1_ps(params->scalar.max);
  const size_t width = 16 * (size_t)vectors;
  const __mmask32 mask = columns >= width ? 0xffffffffu : (1u << columns) - 1;
  UNROLL for (int r = 0; r < rows; ++r) {
    if ((size_t)r >= used) return;
    float* to = (float*)((char*)c + (size_t)r * c_stride);
    UNROLL for (int v = 0; v < vectors; ++v) _mm512_mask_storeu_ps(
        to + 16 * v, (__mmask16)(mask >> (16 * v)), _mm512_min_ps(high, _mm512_max_ps(low, sums[r][v])));
  }
}

INLINE void gemm(int rows, int vectors, size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride,
                 const float* w, float* c, size_t cm_stride, size_t cn_stride,
                 const union xnn_f32_minmax_params* params) {
  const size_t width = 16 * (size_t)vectors;
  const float* row[MOST_ROWS];
  UNROLL for (int r = 0; r < rows; ++r) row[r] =
      (const float*)((const char*)a + ((size_t)r < mr ? (size_t)r : mr - 1) * a_stride);
  for (;;) {
    Sums sums;
    w = begin(rows, vectors, w, sums);
    w = add_products(rows, vectors, row, kc / sizeof(float), w, sums);
    store(rows, vectors, sums, mr, nc, c, cm_stride, params);
    if (nc <= width) return;
    nc -= width;
    c = (float*)((char*)c + cn_stride);
  }
}

INLINE void igemm(int rows, int vectors, size_t mr, size_t nc, size_t kc, size_t ks, const float** a,
                  const float* w, float* c, size_t cm_stride, size_t cn_stride, size_t a_offset,
                  const float* zero, const union xnn_f32_minmax_params* params) {
  const size_t width = 16 * (size_t)vectors;
  const float** const end = a + ks / sizeof(void*);
  for (;;) {
    Sums sums;
    w = begin(rows, vectors, w, sums);
    for (const float** tap = a; tap != end; tap += rows) {
      const float* row[MOST_ROWS];
      UNROLL for (int r = 0; r < rows; ++r) row[r] =
          tap[r] == zero ? zero : (const float*)((const char*)tap[r] + a_offset);
      w = add_products(rows, vectors, row, kc / sizeof(float), w, sums);
    }
    store(rows, vectors, sums, mr, nc, c, cm_stride, params);
    if (nc <= width) return;
    nc -= width;
    c = (float*)((char*)c + cn_stride);
  }
}

#define TILE(rows, columns)                                                                           \
  void ds_f32_gemm_minmax_##rows##x##columns##_avx512f(                                               \
      size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride, const float* w, float* c,     \
      size_t cm_stride, size_t cn_stride, const union xnn_f32_minmax_params* params) {                \
    gemm(rows, columns / 16, mr, nc, kc, a, a_stride, w, c, cm_stride, cn_stride, params);            \
  }                                                                                                   \
  void ds_f32_igemm_minmax_##rows##x##columns##_avx512f(                                              \
      size_t mr, size_t nc, size_t kc, size_t ks, const float** a, const float* w, float* c,          \
      size_t cm_stride, size_t cn_stride, size_t a_offset, const float* zero,                         \
      const union xnn_f32_minmax_params* params) {                                                    \
    igemm(rows, columns / 16, mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, params); \
  }

DS_EACH_TILE(TILE)
