// y = f(x0, x1, ...), each value of the result's shape or broadcast to it. LOADS defines x0, x1, ... of value i.
#include "functions.wgsl"

fn value_at(i: i32) -> T {
${LOADS}
  return ${EXPRESSION};
}
