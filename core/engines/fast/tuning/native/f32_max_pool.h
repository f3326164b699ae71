// Micro kernels with XNNPACK's interface, xnn_f32_maxpool_minmax_ukernel_…, for any window in one pass.
// XNNPACK's own process nine taps per pixel and four channels at a time: a window of 2x2 on six channels
// takes 27 vectors of taps and 12 single floats. Here it takes four vectors.
// Client: xnnpack_start.c.
#pragma once

#include <stddef.h>

#include "xnnpack/microparams.h"

/// input: `taps` pointers for each pixel, to which input_offset bytes are added; input_increment and
/// output_increment: bytes from the end of one pixel's pointers and channels to those of the next.
void ds_f32_max_pool_avx(size_t pixels, size_t taps, size_t channels, const float** input,
                         size_t input_offset, float* output, size_t input_increment, size_t output_increment,
                         const union xnn_f32_minmax_params* params);
void ds_f32_max_pool_avx512f(size_t pixels, size_t taps, size_t channels, const float** input,
                             size_t input_offset, float* output, size_t input_increment,
                             size_t output_increment, const union xnn_f32_minmax_params* params);
