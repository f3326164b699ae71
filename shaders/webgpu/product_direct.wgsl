// A product without shared memory: each thread reads what it needs for TM x TN sums from the caches. For devices
// whose barriers cost more than reading twice: those that compute on the CPU, and small products anywhere.
#include "product_operands.wgsl"
#include "product_result.wgsl"

@compute @workgroup_size(${THREADS_X}, ${THREADS_Y})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let m0 = id.y * ${TM}u;
  let n0 = id.x * ${TN / 4}u;
  let batch = id.z;
  if (m0 >= M || n0 >= N4) {
    return;
  }
#for I in 0..TM
#for J in 0..TN / 4
  var sum${I}_${J} = vec4f();
#end
#end
#if WINDOWS && A_VECTORS
  for (var ky = 0u; ky < ${KERNEL_H}u; ky++) {
    for (var kx = 0u; kx < ${KERNEL_W}u; kx++) {
      let k = (ky * ${KERNEL_W}u + kx) * C * 4u;
#for I in 0..TM
      let at${I} = tap_at(m0 + ${I}u, ky, kx);
      let from${I} = u32(max(at${I}, 0));
      let inside${I} = at${I} >= 0;
#end
      for (var c = 0u; c < C; c++) {
#for J in 0..TN / 4
#for R in 0..4
        let b${R}_${J} = load_b_inside(batch, k + 4u * c + ${R}u, n0 + ${J}u);
#end
#end
#for I in 0..TM
        {
          let a0 = select(vec4f(), a[from${I} + c], inside${I});
#for J in 0..TN / 4
          sum${I}_${J} += a0.x * b0_${J};
          sum${I}_${J} += a0.y * b1_${J};
          sum${I}_${J} += a0.z * b2_${J};
          sum${I}_${J} += a0.w * b3_${J};
#end
        }
#end
      }
    }
  }
#else
  for (var k4 = 0u; k4 < K4; k4++) {
#for J in 0..TN / 4
#for R in 0..4
    let b${R}_${J} = ${LOAD_B}(batch, 4u * k4 + ${R}u, n0 + ${J}u);
#end
#end
#for I in 0..TM
    {
      let a0 = load_a(batch, m0 + ${I}u, k4);
#for J in 0..TN / 4
      sum${I}_${J} += a0.x * b0_${J};
      sum${I}_${J} += a0.y * b1_${J};
      sum${I}_${J} += a0.z * b2_${J};
      sum${I}_${J} += a0.w * b3_${J};
#end
    }
#end
  }
#endif
#for I in 0..TM
#for J in 0..TN / 4
  store(batch, m0 + ${I}u, n0 + ${J}u, sum${I}_${J});
#end
#end
}
