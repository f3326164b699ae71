// Each element of a transposed convolution (channels last) from the inputs that reach it. The weights: for each output
// and tap the CG channels of its group.
float element(int e) {
  int o = e % ${OUTPUTS};
  int ox = e / ${OUTPUTS} % ${OUT_W};
  int oy = e / ${OUTPUTS * OUT_W} % ${OUT_H};
  int image = e / ${OUTPUTS * OUT_W * OUT_H} * ${IN_H};
  int first = o / ${OUTPUTS / GROUPS} * ${CG};
  float sum = in2_element(o);
  for (int ky = 0; ky < ${KERNEL_H}; ky++) {
    int y = oy + ${PAD_Y} - ky * ${DILATION_Y};
    if (y < 0 || y % ${STRIDE_Y} != 0 || y / ${STRIDE_Y} >= ${IN_H}) continue;
    for (int kx = 0; kx < ${KERNEL_W}; kx++) {
      int x = ox + ${PAD_X} - kx * ${DILATION_X};
      if (x < 0 || x % ${STRIDE_X} != 0 || x / ${STRIDE_X} >= ${IN_W}) continue;
      int from = ((image + y / ${STRIDE_Y}) * ${IN_W} + x / ${STRIDE_X}) * ${CG * GROUPS} + first;
      int w = (o * ${KERNEL_H * KERNEL_W} + ky * ${KERNEL_W} + kx) * ${CG};
#if CG % 4 == 0
      for (int c = 0; c < ${CG / 4}; c++) sum += dot(in0_texel(from / 4 + c), in1_texel(w / 4 + c));
#else
      for (int c = 0; c < ${CG}; c++) sum += in0_element(from + c) * in1_element(w + c);
#endif
    }
  }
#if CLAMPED
  sum = clamp(sum, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
  return sum;
}
#include "flat.glsl"
