// y = f(x0, x1, ...), each value of the result's shape or broadcast to it. LOADS defines x0, x1, ... of element i.
alias T = ${TYPE};
#for I in 0..INPUTS
@group(0) @binding(${I}) var<storage, read> in${I}: array<T>;
#end
@group(0) @binding(${INPUTS}) var<storage, read_write> y: array<T>;

#if FUNCTIONS
#include "functions.wgsl"
#endif

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * ${ROW}u;
  if (i >= ${COUNT}u) {
    return;
  }
${LOADS}
  y[i] = ${EXPRESSION};
}
