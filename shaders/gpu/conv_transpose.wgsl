// Each element of a transposed convolution (channels last) from the inputs that reach it. The weights: for each output
// and tap the CG channels of its group.
#include "channels.wgsl"

fn value_at(e: i32) -> f32 {
  let o: i32 = e % ${OUTPUTS};
  let ox: i32 = e / ${OUTPUTS} % ${OUT_W};
  let oy: i32 = e / ${OUTPUTS * OUT_W} % ${OUT_H};
  let image: i32 = e / ${OUTPUTS * OUT_W * OUT_H} * ${IN_H};
  let first: i32 = o / ${OUTPUTS / GROUPS} * ${CG};
  var sum: f32 = in2_value(o);
  for (var ky: i32 = 0; ky < ${KERNEL_H}; ky++) {
    let iy: i32 = oy + ${PAD_Y} - ky * ${DILATION_Y};
    if (iy < 0 || iy % ${STRIDE_Y} != 0 || iy / ${STRIDE_Y} >= ${IN_H}) {
      continue;
    }
    for (var kx: i32 = 0; kx < ${KERNEL_W}; kx++) {
      let ix: i32 = ox + ${PAD_X} - kx * ${DILATION_X};
      if (ix < 0 || ix % ${STRIDE_X} != 0 || ix / ${STRIDE_X} >= ${IN_W}) {
        continue;
      }
      let x: i32 = ((image + iy / ${STRIDE_Y}) * ${IN_W} + ix / ${STRIDE_X}) * ${CG * GROUPS} + first;
      let w: i32 = (o * ${KERNEL_H * KERNEL_W} + ky * ${KERNEL_W} + kx) * ${CG};
      sum = with_channels(sum, x, w);
    }
  }
#if CLAMPED
  sum = clamp(sum, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
  return sum;
}
