#include "core/engines/fast/tuning/native/f32_max_pool.h"

#include <immintrin.h>

// NaN stays NaN: max returns its second operand if either is NaN.
static inline __m512 larger(__m512 a, __m512 b) {
  return _mm512_mask_mov_ps(_mm512_max_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}

void ds_f32_max_pool_avx512f(size_t pixels, size_t taps, size_t channels, const float** input,
                             size_t input_offset, float* output, size_t input_increment,
                             size_t output_increment, const union xnn_f32_minmax_params* params) {
  const __m512 low = _mm512_set1_ps(params->scalar.min);
  const __m512 high = _mm512_set1_ps(params->scalar.max);
  for (; pixels > 0; --pixels) {
    for (size_t c = 0; c < channels; c += 16) {
      const size_t rest = channels - c;
      const __mmask16 mask = (__mmask16)(rest < 16 ? (1u << rest) - 1 : 0xffffu);
      const size_t at = input_offset + c * sizeof(float);
      __m512 largest = _mm512_maskz_loadu_ps(mask, (const char*)input[0] + at);
      for (size_t tap = 1; tap < taps; ++tap)
        largest = larger(largest, _mm512_maskz_loadu_ps(mask, (const char*)input[tap] + at));
      largest = _mm512_min_ps(high, _mm512_max_ps(low, largest));
      _mm512_mask_storeu_ps(output + c, mask, largest);
    }
    input = (const float**)((const char*)(input + taps) + input_increment);
    output = (float*)((char*)(output + channels) + output_increment);
  }
}
