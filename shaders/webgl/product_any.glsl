#include "inputs.glsl"
// A product Y (ROWS x N) = A (ROWS x K) times B (K x N) for any N, one element after the other. B is a constant of N
// rows of K (B_ROWS), or a value as it lies.
const int K = ${K};

float value_at(int e) {
  int n = e % ${N};
  int row = e / ${N};
  int batch = row / ${M};
  int a = ((${A_BATCH}) * ${M} + row % ${M}) * K;
  float sum = 0.0;
#if B_ROWS && K % 4 == 0
  int a4 = a / 4;
  int b4 = n * ${K / 4};
  for (int k = 0; k < ${K / 4}; k++) sum += dot(in0_texel(a4 + k), in1_texel(b4 + k));
#elif B_ROWS
  for (int k = 0; k < K; k++) sum += in0_element(a + k) * in1_element(n * K + k);
#else
  int b = (${B_BATCH}) * ${K * N};
#if B_TRANSPOSED
  for (int k = 0; k < K; k++) sum += in0_element(a + k) * in1_element(b + n * K + k);
#else
  for (int k = 0; k < K; k++) sum += in0_element(a + k) * in1_element(b + k * ${N} + n);
#endif
#endif
#if BIAS
  sum += in2_element(n);
#endif
#if CLAMPED
  sum = clamp(sum, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
  return sum;
}
#include "flat.glsl"
