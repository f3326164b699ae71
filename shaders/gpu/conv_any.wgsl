// A convolution with any number of groups and channels (channels last), one element after the other. The weights:
// for each output and tap the CG channels of its group.
#include "channels.wgsl"
#include "window.wgsl"

fn value_at(e: i32) -> f32 {
  let o: i32 = e % ${OUTPUTS};
  let window: vec3i = window_of(e / ${OUTPUTS});
  let first: i32 = o / ${OUTPUTS / GROUPS} * ${CG};
  var sum: f32 = in2_value(o);
  for (var ky: i32 = 0; ky < ${KERNEL_H}; ky++) {
    for (var kx: i32 = 0; kx < ${KERNEL_W}; kx++) {
      let pixel: i32 = tap_of(window, ky, kx);
      if (pixel < 0) {
        continue;
      }
      let x: i32 = pixel * ${CG * GROUPS} + first;
      let w: i32 = (o * ${KERNEL_H * KERNEL_W} + ky * ${KERNEL_W} + kx) * ${CG};
      sum = with_channels(sum, x, w);
    }
  }
#if CLAMPED
  sum = clamp(sum, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
  return sum;
}
