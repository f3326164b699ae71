// A product in tiles of BM x BN, which a workgroup sums up in steps of BK from its shared memory; each thread keeps
// TM x TN sums. Threads of a workgroup take every THREADS_X-th column and every THREADS_Y-th row: what they read
// from shared memory at once lies in different banks, what they write lies side by side.
#include "product_operands.wgsl"
#include "product_result.wgsl"

const THREADS = ${THREADS_X * THREADS_Y}u;
var<workgroup> tile_a: array<vec4f, ${BM * (BK / 4 + 1)}>;
var<workgroup> tile_b: array<vec4f, ${BK * BN / 4}>;

@compute @workgroup_size(${THREADS_X}, ${THREADS_Y})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) thread: u32) {
  let m0 = group.y * ${BM}u;
  let n0 = group.x * ${BN / 4}u;
  let batch = group.z;
#for I in 0..TM
#for J in 0..TN / 4
  var sum${I}_${J} = vec4f();
#end
#end
  for (var k0 = 0u; k0 < K4; k0 += ${BK / 4}u) {
#for S in 0..BM * BK / 4 / (THREADS_X * THREADS_Y)
    {
      let at = thread + ${S}u * THREADS;
      let row = at / ${BK / 4}u;
      let column = at % ${BK / 4}u;
      tile_a[row * ${BK / 4 + 1}u + column] = load_a(batch, m0 + row, k0 + column);
    }
#end
#for S in 0..BK * BN / 4 / (THREADS_X * THREADS_Y)
    {
      let at = thread + ${S}u * THREADS;
      tile_b[at] = load_b(batch, 4u * k0 + at / ${BN / 4}u, n0 + at % ${BN / 4}u);
    }
#end
    workgroupBarrier();
#for P in 0..BK / 4
    {
#for J in 0..TN / 4
#for R in 0..4
      let b${R}_${J} = tile_b[${(4 * P + R) * BN / 4 + J * THREADS_X}u + local.x];
#end
#end
#for I in 0..TM
      let a${I} = tile_a[(local.y + ${I * THREADS_Y}u) * ${BK / 4 + 1}u + ${P}u];
#end
#for I in 0..TM
#for J in 0..TN / 4
      sum${I}_${J} += a${I}.x * b0_${J};
      sum${I}_${J} += a${I}.y * b1_${J};
      sum${I}_${J} += a${I}.z * b2_${J};
      sum${I}_${J} += a${I}.w * b3_${J};
#end
#end
    }
#end
    workgroupBarrier();
  }
#for I in 0..TM
#for J in 0..TN / 4
  store(batch, m0 + local.y + ${I * THREADS_Y}u, n0 + local.x + ${J * THREADS_X}u, sum${I}_${J});
#end
#end
}
