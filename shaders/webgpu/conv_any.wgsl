// A convolution with any number of groups and channels (channels last), one element after the other. The weights:
// for each output and tap the CG channels of its group.
@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read> in1: array<f32>;
@group(0) @binding(2) var<storage, read> in2: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let e = id.x + id.y * ${ROW}u;
  if (e >= ${COUNT}u) {
    return;
  }
  let o = e % ${OUTPUTS}u;
  let ox = e / ${OUTPUTS}u % ${OUT_W}u;
  let oy = e / ${OUTPUTS * OUT_W}u % ${OUT_H}u;
  let image = e / ${OUTPUTS * OUT_W * OUT_H}u * ${IN_H}u;
  let first = o / ${OUTPUTS / GROUPS}u * ${CG}u;
  var sum = in2[o];
  for (var ky = 0u; ky < ${KERNEL_H}u; ky++) {
    let y = i32(oy * ${STRIDE_Y}u + ky * ${DILATION_Y}u) - ${PAD_Y};
    if (y < 0 || y >= ${IN_H}) {
      continue;
    }
    for (var kx = 0u; kx < ${KERNEL_W}u; kx++) {
      let x = i32(ox * ${STRIDE_X}u + kx * ${DILATION_X}u) - ${PAD_X};
      if (x < 0 || x >= ${IN_W}) {
        continue;
      }
      let at = ((image + u32(y)) * ${IN_W}u + u32(x)) * ${CG * GROUPS}u + first;
      let w = (o * ${KERNEL_H * KERNEL_W}u + ky * ${KERNEL_W}u + kx) * ${CG}u;
      for (var c = 0u; c < ${CG}u; c++) {
        sum += in0[at + c] * in1[w + c];
      }
    }
  }
#if CLAMPED
  sum = clamp(sum, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
  result[e] = sum;
}
