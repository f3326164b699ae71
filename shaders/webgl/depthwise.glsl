#include "inputs.glsl"
// A convolution of each channel by itself, four channels at once (channels last); what is read of the weights serves a
// pixel of each layer.
const int C4 = ${C / 4};
#include "window.glsl"

void main() {
  int q = pixel();
  int c = q % C4;
  int first = q / C4;
#for L in 0..LAYERS
  ivec3 window${L} = window_of(min(first + ${L * (LAYER_TEXELS / (C / 4))}, ${ROWS - 1}));
  vec4 sum${L} = vec4(0.0);
#end
  for (int ky = 0; ky < ${KERNEL_H}; ky++) {
    for (int kx = 0; kx < ${KERNEL_W}; kx++) {
      vec4 w = in1_texel((ky * ${KERNEL_W} + kx) * C4 + c);
#for L in 0..LAYERS
      {
        int at = tap_of(window${L}, ky, kx);
        sum${L} += w * (at >= 0 ? in0_texel(at * C4 + c) : vec4(0.0));
      }
#end
    }
  }
#if BIAS
  vec4 bias = in2_texel(c);
#else
  vec4 bias = vec4(0.0);
#endif
#for L in 0..LAYERS
#if CLAMPED
  out${L} = clamp(sum${L} + bias, ${CLAMP_MIN}, ${CLAMP_MAX});
#else
  out${L} = sum${L} + bias;
#endif
#end
}
