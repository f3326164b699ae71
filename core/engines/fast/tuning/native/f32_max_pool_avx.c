#include <immintrin.h>

#include "core/engines/fast/tuning/native/f32_max_pool.h"

// NaN stays NaN: max returns its second operand if either is NaN.
static inline __m256 larger(__m256 a, __m256 b) {
  return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

static inline __m256 largest_of(size_t taps, const float** input, size_t at) {
  __m256 largest = _mm256_loadu_ps((const float*)((const char*)input[0] + at));
  for (size_t tap = 1; tap < taps; ++tap)
    largest = larger(largest, _mm256_loadu_ps((const float*)((const char*)input[tap] + at)));
  return largest;
}

static inline __m256 largest_of_some(size_t taps, const float** input, size_t at, __m256i mask) {
  __m256 largest = _mm256_maskload_ps((const float*)((const char*)input[0] + at), mask);
  for (size_t tap = 1; tap < taps; ++tap)
    largest = larger(largest, _mm256_maskload_ps((const float*)((const char*)input[tap] + at), mask));
  return largest;
}

void ds_f32_max_pool_avx(size_t pixels, size_t taps, size_t channels, const float** input,
                         size_t input_offset, float* output, size_t input_increment, size_t output_increment,
                         const union xnn_f32_minmax_params* params) {
  static const int masks[15] = {-1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  const __m256 low = _mm256_set1_ps(params->scalar.min);
  const __m256 high = _mm256_set1_ps(params->scalar.max);
  for (; pixels > 0; --pixels) {
    size_t c = 0;
    for (; c + 8 <= channels; c += 8) {
      const __m256 largest = largest_of(taps, input, input_offset + c * sizeof(float));
      _mm256_storeu_ps(output + c, _mm256_min_ps(high, _mm256_max_ps(low, largest)));
    }
    if (c < channels) {
      const __m256i mask = _mm256_loadu_si256((const __m256i*)(masks + 7 - (channels - c)));
      const __m256 largest = largest_of_some(taps, input, input_offset + c * sizeof(float), mask);
      _mm256_maskstore_ps(output + c, mask, _mm256_min_ps(high, _mm256_max_ps(low, largest)));
    }
    input = (const float**)((const char*)(input + taps) + input_increment);
    output = (float*)((char*)(output + channels) + output_increment);
  }
}
