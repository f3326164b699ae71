// What a product writes: with a bias for each column, another value added, and bounds.
#if BIAS
@group(0) @binding(2) var<storage, read> bias: array<vec4f>;
#endif
#if ADDS
#if N % 4 == 0
@group(0) @binding(${2 + BIAS}) var<storage, read> addend: array<vec4f>;
#else
@group(0) @binding(${2 + BIAS}) var<storage, read> addend: array<f32>;
#endif
#endif
#if N % 4 == 0
@group(0) @binding(${2 + BIAS + ADDS}) var<storage, read_write> y: array<vec4f>;
#else
@group(0) @binding(${2 + BIAS + ADDS}) var<storage, read_write> y: array<f32>;
#endif

fn store(batch: u32, m: u32, n4: u32, sum: vec4f) {
  if (m >= M || n4 >= N4) {
    return;
  }
  var value = sum;
#if BIAS
  value += bias[n4];
#endif
  let row = batch * M + m;
#if N % 4 == 0
#if ADDS
  value += addend[row * N4 + n4];
#endif
#if CLAMPED
  value = clamp(value, vec4f(${CLAMP_MIN}), vec4f(${CLAMP_MAX}));
#endif
  y[row * N4 + n4] = value;
#else
  let at = row * ${N}u + 4u * n4;
#for I in 0..4
  if (4u * n4 + ${I}u < ${N}u) {
    var one = value[${I}];
#if ADDS
    one += addend[at + ${I}u];
#endif
#if CLAMPED
    one = clamp(one, ${CLAMP_MIN}, ${CLAMP_MAX});
#endif
    y[at + ${I}u] = one;
  }
#end
#endif
}
