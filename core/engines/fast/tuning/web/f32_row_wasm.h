// Micro kernels in addition to XNNPACK's, with the signatures of its xnn_f32_gemm_…_ukernel_1x8__…: kc and
// strides in bytes, weights packed for 8 columns. Client: xnnpack_start.c.
#pragma once

#include <stddef.h>

#include "xnnpack/microparams.h"

#define DS_GEMM_PARAMETERS                                                                    \
  size_t mr, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w, float *c, \
      size_t cm_stride, size_t cn_stride

void ds_f32_gemm_1x8(DS_GEMM_PARAMETERS, const void* params);
void ds_f32_gemm_relu_1x8(DS_GEMM_PARAMETERS, const void* params);
void ds_f32_gemm_minmax_1x8(DS_GEMM_PARAMETERS, const union xnn_f32_minmax_params* params);
