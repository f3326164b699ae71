// Micro kernels in addition to XNNPACK's, with the signatures and the semantics of its
// xnn_f32_gemm_minmax_ukernel_… and xnn_f32_igemm_minmax_ukernel_…: kc and ks in bytes, weights packed
// for the columns of the tile and aligned to 64 bytes. Client: xnnpack_start.c.
#pragma once

#include <stddef.h>

#include "xnnpack/microparams.h"

#define DS_DECLARE_TILE(rows, columns)                                                            \
  void ds_f32_gemm_minmax_##rows##x##columns##_avx512f(                                           \
      size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride, const float* w, float* c, \
      size_t cm_stride, size_t cn_stride, const union xnn_f32_minmax_params* params);             \
  void ds_f32_igemm_minmax_##rows##x##columns##_avx512f(                                          \
      size_t mr, size_t nc, size_t kc, size_t ks, const float** a, const float* w, float* c,      \
      size_t cm_stride, size_t cn_stride, size_t a_offset, const float* zero,                     \
      const union xnn_f32_minmax_params* params);

// Enough sizes that few rows of the last tile are wasted for any number of pixels.
#define DS_EACH_WIDE_TILE(it)                                                                          \
  it(1, 32) it(2, 32) it(3, 32) it(4, 32) it(5, 32) it(6, 32) it(7, 32) it(8, 32) it(9, 32) it(10, 32) \
      it(11, 32) it(12, 32)
#define DS_EACH_NARROW_TILE(it) it(1, 16) it(4, 16) it(7, 16) it(9, 16) it(11, 16) it(13, 16)
#define DS_EACH_TILE(it) DS_EACH_WIDE_TILE(it) DS_EACH_NARROW_TILE(it)

DS_EACH_TILE(DS_DECLARE_TILE)
