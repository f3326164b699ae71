// Softmax of each lane, or its logarithm.
#include "lanes.wgsl"
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u,
        @builtin(local_invocation_index) thread: u32) {
#include "lane_of_thread.wgsl"
  let base = lane_base(lane);
  var part = -3.4028234663852886e38;
  for (var l = first; l < ${SIZE}u; l += STEP) {
    part = max(part, x[base + l * ${INNER}u]);
  }
  let largest = largest_of(thread, part);
  part = 0.0;
  for (var l = first; l < ${SIZE}u; l += STEP) {
    part += exp(x[base + l * ${INNER}u] - largest);
  }
  let sum = add_up(thread, part);
#if LOGARITHM
  let shift = log(sum);
#endif
  for (var l = first; l < ${SIZE}u; l += STEP) {
    let at = base + l * ${INNER}u;
#if LOGARITHM
    y[at] = (x[at] - largest) - shift;
#else
    y[at] = exp(x[at] - largest) / sum;
#endif
  }
}
