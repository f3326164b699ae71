// Micro kernels beside XNNPACK's, with the signatures and the meaning of its
// xnn_f32_gemm_minmax_ukernel_… and xnn_f32_igemm_minmax_ukernel_…: kc and ks in bytes, weights packed
// for the columns of the tile and aligned to 64 bytes. Client: xnnpack_start.c.
#pragma once

#include <stddef.h>

#include "xnnpack/microparams.h"

#define DS_DECLARE_TILE(rows, columns)                                                             \
  void ds_f32_gemm_minmax_##rows##x##columns##_avx512f(                                            \
      size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride, const float* w, float* c,  \
      size_t cm_stride, size_t cn_stride, const union xnn_f32_minmax_params* params);              \
  void ds_f32_igemm_minmax_##rows##x##columns##_avx512f(                                           \
      size_t mr, size_t nc, size_t kc, size_t ks, const float** a, const float* w, float* c,       \
      size_t cm_stride, size_t cn_stride, size_t a_offset, const float* zero,                      \
      const union xnn_f32_minmax_params* params);

DS_DECLARE_TILE(12, 32)
DS_DECLARE_TILE(13, 16)
