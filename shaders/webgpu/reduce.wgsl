// One number of each lane.
#include "lanes.wgsl"
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u,
        @builtin(local_invocation_index) thread: u32) {
#include "lane_of_thread.wgsl"
  let base = lane_base(lane);
  var part = ${FIRST};
  for (var l = first; l < ${SIZE}u; l += STEP) {
    let v = x[base + l * ${INNER}u];
    part = ${NEXT};
  }
  let whole = ${JOIN}(thread, part);
  if (first == 0u) {
    y[lane] = ${LAST};
  }
}
