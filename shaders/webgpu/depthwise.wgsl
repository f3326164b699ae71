// A convolution of each channel by itself (channels last), four channels at once where there are as many.
alias T = ${TYPE};
const C = ${CHANNELS}u;
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> w: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;

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
  var sum = T();
#for KY in 0..KERNEL_H
  {
    let iy = i32(oy * ${STRIDE_Y}u) + ${KY * DILATION_Y} - ${PAD_Y};
    if (iy >= 0 && iy < ${IN_H}) {
      let row = (n * ${IN_H}u + u32(iy)) * ${IN_W}u;
#for KX in 0..KERNEL_W
      {
        let ix = i32(ox * ${STRIDE_X}u) + ${KX * DILATION_X} - ${PAD_X};
        if (ix >= 0 && ix < ${IN_W}) {
          sum += x[(row + u32(ix)) * C + c] * w[${(KY * KERNEL_W + KX) * CHANNELS}u + c];
        }
      }
#end
    }
  }
#end
  var value = sum + bias[c];
#if CLAMPED
  value = clamp(value, T(${CLAMP_MIN}), T(${CLAMP_MAX}));
#endif
  y[i] = value;
}
