// A convolution with any number of groups and channels (channels last), one element after the other. The weights:
// for each output and tap the CG channels of its group.
#include "window.glsl"

float element(int e) {
  int o = e % ${OUTPUTS};
  ivec3 window = window_of(e / ${OUTPUTS});
  int first = o / ${OUTPUTS / GROUPS} * ${CG};
  float sum = in2_element(o);
  for (int ky = 0; ky < ${KERNEL_H}; ky++) {
    for (int kx = 0; kx < ${KERNEL_W}; kx++) {
      int pixel_at = tap_of(window, ky, kx);
      if (pixel_at < 0) continue;
      int x = pixel_at * ${CG * GROUPS} + first;
      int w = (o * ${KERNEL_H * KERNEL_W} + ky * ${KERNEL_W} + kx) * ${CG};
#if CG % 4 == 0
      for (int c = 0; c < ${CG / 4}; c++) sum += dot(in0_texel(x / 4 + c), in1_texel(w / 4 + c));
#else
      for (int c = 0; c < ${CG}; c++) sum += in0_element(x + c) * in1_element(w + c);
#endif
    }
  }
#if CLAMPED
  sum = clamp(sum, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
  return sum;
}
#include "flat.glsl"
