// y = f(x0, x1, ...), each value of the result's shape or broadcast to it. LOADS defines x0, x1, ... of texel t; if
// all lie ALIKE, of texel q of a layer.
#if FUNCTIONS
#include "functions.glsl"
#endif
#if ALIKE
vec4 value(int q, int layer) {
${LOADS}
  return ${EXPRESSION};
}

void main() {
  int q = pixel();
#for L in 0..LAYERS
  out${L} = value(q, ${L});
#end
}
#else
vec4 texel(int t) {
${LOADS}
  return ${EXPRESSION};
}
#include "flat.glsl"
#endif
