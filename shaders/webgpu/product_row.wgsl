// A product of few rows: the K of one column are shared among THREADS_Y threads, whose sums are added in a tree.
#include "product_operands.wgsl"
#include "product_result.wgsl"

var<workgroup> partial: array<vec4f, ${THREADS_X * THREADS_Y}>;

@compute @workgroup_size(${THREADS_X}, ${THREADS_Y})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let n4 = group.x * ${THREADS_X}u + local.x;
  let m = group.y;
  let batch = group.z;
  var sum = vec4f();
  for (var k4 = local.y; k4 < K4; k4 += ${THREADS_Y}u) {
    let a0 = load_a(batch, m, k4);
#for R in 0..4
    sum += a0[${R}] * load_b(batch, 4u * k4 + ${R}u, n4);
#end
  }
  let place = local.y * ${THREADS_X}u + local.x;
  partial[place] = sum;
  for (var half = ${THREADS_Y / 2}u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local.y < half) {
      partial[place] += partial[place + half * ${THREADS_X}u];
    }
  }
  if (local.y == 0u) {
    store(batch, m, n4, partial[place]);
  }
}
