// Redefines min and max in some of XNNPACK's float32 micro kernels, so that NaN stays NaN: x86's return
// their second operand if either is NaN, so these kernels lose it or not depending on its
// position. Included before their sources, by core/engines/fast/xnnpack.cmake. Kernels whose first operand is
// a bound need none of this.
#pragma once
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>

// If the first operand is NaN, it is ORed in as a NaN of all ones.
#define DS_KEEPS_NAN(name, type, operation, joined)                        \
  static inline __attribute__((always_inline)) type name(type a, type b) { \
    return joined(operation(a, b), a);                                     \
  }

#define DS_JOIN_SSE(x, a) _mm_or_ps(x, _mm_cmpunord_ps(a, a))
DS_KEEPS_NAN(ds_max_sse, __m128, _mm_max_ps, DS_JOIN_SSE)
DS_KEEPS_NAN(ds_min_sse, __m128, _mm_min_ps, DS_JOIN_SSE)
#define _mm_max_ps ds_max_sse
#define _mm_min_ps ds_min_sse

#ifdef __AVX__
#define DS_JOIN_AVX(x, a) _mm256_or_ps(x, _mm256_cmp_ps(a, a, _CMP_UNORD_Q))
DS_KEEPS_NAN(ds_max_avx, __m256, _mm256_max_ps, DS_JOIN_AVX)
DS_KEEPS_NAN(ds_min_avx, __m256, _mm256_min_ps, DS_JOIN_AVX)
#define _mm256_max_ps ds_max_avx
#define _mm256_min_ps ds_min_avx
#endif

#ifdef __AVX512F__
#define DS_JOIN_AVX512(x, a) _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a)
DS_KEEPS_NAN(ds_max_avx512, __m512, _mm512_max_ps, DS_JOIN_AVX512)
DS_KEEPS_NAN(ds_min_avx512, __m512, _mm512_min_ps, DS_JOIN_AVX512)
#define _mm512_max_ps ds_max_avx512
#define _mm512_min_ps ds_min_avx512
#define _mm512_maskz_max_ps(mask, a, b) _mm512_maskz_mov_ps(mask, ds_max_avx512(a, b))
#define _mm512_maskz_min_ps(mask, a, b) _mm512_maskz_mov_ps(mask, ds_min_avx512(a, b))
#endif
#endif
