// The largest or the mean of each window (channels last).
alias T = ${TYPE};
const C = ${CHANNELS}u;
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * ${ROW}u;
  if (i >= ${COUNT}u) {
    return;
  }
  let c = i % C;
  let ox = i / C % ${OUT_W}u;
  let oy = i / ${CHANNELS * OUT_W}u % ${OUT_H}u;
  let n = i / ${CHANNELS * OUT_W * OUT_H}u;
#if MAXIMUM
  var value = T(-3.4028234663852886e38);
#else
  var value = T();
#endif
  var taps = 0u;
  for (var ky = 0u; ky < ${KERNEL_H}u; ky++) {
    let iy = i32(oy * ${STRIDE_Y}u + ky * ${DILATION_Y}u) - ${PAD_Y};
    if (iy < -${PAD_Y} || iy >= ${IN_H + PAD_END_Y}) {
      continue;
    }
    for (var kx = 0u; kx < ${KERNEL_W}u; kx++) {
      let ix = i32(ox * ${STRIDE_X}u + kx * ${DILATION_X}u) - ${PAD_X};
      if (ix < -${PAD_X} || ix >= ${IN_W + PAD_END_X}) {
        continue;
      }
      if (iy >= 0 && iy < ${IN_H} && ix >= 0 && ix < ${IN_W}) {
        let element = x[((n * ${IN_H}u + u32(iy)) * ${IN_W}u + u32(ix)) * C + c];
#if MAXIMUM
        value = max(value, element);
#else
        value += element;
#endif
        taps += 1u;
      }
#if COUNTS_PADDING
      else {
        taps += 1u;
      }
#endif
    }
  }
#if !MAXIMUM
  value = value / T(f32(taps));
#endif
  y[i] = value;
}
