// Elements from other places: FROM says where element or texel i comes from; outside of what WITHIN allows it is FILL.
#if ELEMENTS
float element(int i) {
${COORDINATES}
  if (!(${WITHIN})) return ${FILL};
  return in0_element(${FROM});
}
#elif ONE_FOR_ALL
vec4 texel(int i) { return vec4(in0_element(${FROM})); }
#else
vec4 texel(int i) { return in0_texel(${FROM}); }
#endif
#include "flat.glsl"
