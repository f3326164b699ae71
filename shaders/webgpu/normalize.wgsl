// (x - mean) / sqrt(variance + EPSILON) of each lane, times a scale and plus a bias, both of which SCALE_AT finds.
// Not CENTERED: the mean is taken for 0.
#include "lanes.wgsl"
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> scale: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u,
        @builtin(local_invocation_index) thread: u32) {
#include "lane_of_thread.wgsl"
  let base = lane_base(lane);
  var part = 0.0;
#if CENTERED
  for (var l = first; l < ${SIZE}u; l += STEP) {
    part += x[base + l * ${INNER}u];
  }
  let mean = add_up(thread, part) / f32(${SIZE}u);
  part = 0.0;
#else
  let mean = 0.0;
#endif
  for (var l = first; l < ${SIZE}u; l += STEP) {
    let d = x[base + l * ${INNER}u] - mean;
    part += d * d;
  }
  let variance = add_up(thread, part) / f32(${SIZE}u);
  let factor = 1.0 / sqrt(variance + ${EPSILON});
  for (var l = first; l < ${SIZE}u; l += STEP) {
    let at = base + l * ${INNER}u;
    let s = ${SCALE_AT};
    y[at] = (x[at] - mean) * factor * scale[s] + bias[s];
  }
}
