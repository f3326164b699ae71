// The largest or the mean of each window (channels last), of one channel or four at once.
#include "window.wgsl"

fn value_at(i: i32) -> T {
  let c: i32 = i % ${CHANNELS};
  let window: vec3i = window_of(i / ${CHANNELS});
  var value: T = T(${FIRST});
  var taps: f32 = 0.0;
  for (var ky: i32 = 0; ky < ${KERNEL_H}; ky++) {
    let y: i32 = window.y + ky * ${DILATION_Y};
    if (y < -${PAD_Y} || y >= ${IN_H + PAD_END_Y}) {
      continue;
    }
    for (var kx: i32 = 0; kx < ${KERNEL_W}; kx++) {
      let x: i32 = window.x + kx * ${DILATION_X};
      if (x < -${PAD_X} || x >= ${IN_W + PAD_END_X}) {
        continue;
      }
      let at: i32 = tap_of(window, ky, kx);
      if (at >= 0) {
#if MAXIMUM
        value = max(value, in0_value(at * ${CHANNELS} + c));
#else
        value += in0_value(at * ${CHANNELS} + c);
#endif
      }
#if COUNTS_PADDING
      taps += 1.0;
#else
      taps += select(0.0, 1.0, at >= 0);
#endif
    }
  }
#if !MAXIMUM
  value = value / T(taps);
#endif
  return value;
}
