// The largest or the mean of each window (channels last), of four channels at once or of ELEMENTS.
#include "window.glsl"
#if ELEMENTS
float element(int i) {
  float value = ${FIRST};
#else
vec4 texel(int i) {
  vec4 value = vec4(${FIRST});
#endif
  int c = i % ${CHANNELS};
  ivec3 window = window_of(i / ${CHANNELS});
  float taps = 0.0;
  for (int ky = 0; ky < ${KERNEL_H}; ky++) {
    int y = window.y + ky * ${DILATION_Y};
    if (y < -${PAD_Y} || y >= ${IN_H + PAD_END_Y}) continue;
    for (int kx = 0; kx < ${KERNEL_W}; kx++) {
      int x = window.x + kx * ${DILATION_X};
      if (x < -${PAD_X} || x >= ${IN_W + PAD_END_X}) continue;
      bool inside = y >= 0 && y < ${IN_H} && x >= 0 && x < ${IN_W};
      if (inside) {
        int at = ((window.z + y) * ${IN_W} + x) * ${CHANNELS} + c;
#if MAXIMUM && ELEMENTS
        value = max(value, in0_element(at));
#elif MAXIMUM
        value = max(value, in0_texel(at));
#elif ELEMENTS
        value += in0_element(at);
#else
        value += in0_texel(at);
#endif
        taps += 1.0;
      }
#if COUNTS_PADDING
      else {
        taps += 1.0;
      }
#endif
    }
  }
#if !MAXIMUM
  value = value / taps;
#endif
  return value;
}
#include "flat.glsl"
