// Each element of a transposed convolution (channels last) from the inputs that reach it. The weights: for each output
// and tap the CG channels of its group.
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
  let ox = i32(e / ${OUTPUTS}u % ${OUT_W}u);
  let oy = i32(e / ${OUTPUTS * OUT_W}u % ${OUT_H}u);
  let image = e / ${OUTPUTS * OUT_W * OUT_H}u * ${IN_H}u;
  let first = o / ${OUTPUTS / GROUPS}u * ${CG}u;
  var sum = in2[o];
  for (var ky = 0; ky < ${KERNEL_H}; ky++) {
    let y = oy + ${PAD_Y} - ky * ${DILATION_Y};
    if (y < 0 || y % ${STRIDE_Y} != 0 || y / ${STRIDE_Y} >= ${IN_H}) {
      continue;
    }
    for (var kx = 0; kx < ${KERNEL_W}; kx++) {
      let x = ox + ${PAD_X} - kx * ${DILATION_X};
      if (x < 0 || x % ${STRIDE_X} != 0 || x / ${STRIDE_X} >= ${IN_W}) {
        continue;
      }
      let pixel = (image + u32(y / ${STRIDE_Y})) * ${IN_W}u + u32(x / ${STRIDE_X});
      let pixel_at = pixel * ${CG * GROUPS}u + first;
      let w = (o * ${KERNEL_H * KERNEL_W}u + u32(ky * ${KERNEL_W} + kx)) * ${CG}u;
      for (var c = 0u; c < ${CG}u; c++) {
        sum += in0[pixel_at + c] * in1[w + c];
      }
    }
  }
#if CLAMPED
  sum = clamp(sum, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
  result[e] = sum;
}
