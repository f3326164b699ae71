#include "inputs.glsl"
// A product Y (ROWS x N) = A (ROWS x K) times B (K x N), N a multiple of four: each fragment computes four columns of
// one row in each layer, so that what it reads of B serves ACTIVE rows. A is a matrix, or the windows of an image.
// B: four rows of four columns side by side (B_QUADS), or row after row.
const int N4 = ${N / 4};
const int K = ${K};
#if WINDOWS
#include "window.glsl"
#endif

#if B_QUADS
mat4 four_rows(int k4, int n4, int from) {
  int t = (k4 * N4 + n4) * 4;
  return mat4(in1_texel(t), in1_texel(t + 1), in1_texel(t + 2), in1_texel(t + 3));
}
#else
vec4 row_of_b(int k, int n4, int from) {
#if K % 4 == 0
  return in1_texel(from + k * N4 + n4);
#else
  return k < K ? in1_texel(from + k * N4 + n4) : vec4(0.0);
#endif
}

mat4 four_rows(int k4, int n4, int from) {
  int k = 4 * k4;
  return mat4(row_of_b(k, n4, from), row_of_b(k + 1, n4, from), row_of_b(k + 2, n4, from), row_of_b(k + 3, n4, from));
}
#endif

#if !WINDOWS && !A_VECTORS
vec4 four_of_a(int row, int k) {
  ivec4 at = ivec4(k, k + 1, k + 2, k + 3);
  ivec4 from = row + min(at, K - 1);
  vec4 a = vec4(in0_element(from.x), in0_element(from.y), in0_element(from.z), in0_element(from.w));
  return mix(vec4(0.0), a, lessThan(at, ivec4(K)));
}
#endif

vec4 finished(vec4 value, int n4, int row) {
#if BIAS
  value += in2_texel(n4);
#endif
#if ADDS
  value += in${2 + BIAS}_texel(row * N4 + n4);
#endif
#if CLAMPED
  value = clamp(value, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
  return value;
}

void main() {
  int q = pixel();
  int n4 = q % N4;
  int first = q / N4;
#for L in 0..ACTIVE
  int row${L} = min(first + ${L * (LAYER_TEXELS / (N / 4))}, ${ROWS - 1});
  vec4 sum${L} = vec4(0.0);
#end
#if WINDOWS
#for L in 0..ACTIVE
  ivec3 window${L} = window_of(row${L});
#end
  for (int ky = 0; ky < ${KERNEL_H}; ky++) {
    for (int kx = 0; kx < ${KERNEL_W}; kx++) {
      int tap = ky * ${KERNEL_W} + kx;
#for L in 0..ACTIVE
      int at${L} = tap_of(window${L}, ky, kx);
      bool inside${L} = at${L} >= 0;
#if A_VECTORS
      at${L} = max(at${L}, 0) * ${C / 4};
      int layer${L} = in0_layer(at${L});
      at${L} -= layer${L} * ${IN_LAYER_TEXELS};
#else
      at${L} = max(at${L}, 0) * ${C};
#endif
#end
#if A_VECTORS
      for (int c = 0; c < ${C / 4}; c++) {
        mat4 b = four_rows(tap * ${C / 4} + c, n4, 0);
#for L in 0..ACTIVE
        sum${L} += b * (inside${L} ? in0_at(at${L} + c, layer${L}) : vec4(0.0));
#end
      }
#else
      for (int c = 0; c < ${C}; c++) {
        vec4 b = in1_texel((tap * ${C} + c) * N4 + n4);
#for L in 0..ACTIVE
        sum${L} += b * (inside${L} ? in0_element(at${L} + c) : 0.0);
#end
      }
#endif
    }
  }
#else
#for L in 0..ACTIVE
  int a${L};
  int from${L} = 0;
  {
    int batch = row${L} / ${M};
#if A_VECTORS
    a${L} = ((${A_BATCH}) * ${M} + row${L} % ${M}) * ${K / 4};
#else
    a${L} = ((${A_BATCH}) * ${M} + row${L} % ${M}) * K;
#endif
#if !SHARED_B
    from${L} = (${B_BATCH}) * (K * N4);
#endif
  }
#end
  for (int k4 = 0; k4 < ${(K + 3) / 4}; k4++) {
#if SHARED_B
    mat4 b = four_rows(k4, n4, 0);
#endif
#for L in 0..ACTIVE
    {
#if !SHARED_B
      mat4 b = four_rows(k4, n4, from${L});
#endif
#if A_VECTORS
      sum${L} += b * in0_texel(a${L} + k4);
#else
      sum${L} += b * four_of_a(a${L}, 4 * k4);
#endif
    }
#end
  }
#endif
#for L in 0..ACTIVE
  out${L} = finished(sum${L}, n4, row${L});
#end
#for L in ACTIVE..LAYERS
  out${L} = vec4(0.0);
#end
}
