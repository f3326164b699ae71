// One number of each lane; of four lanes side by side at once where INNER is a multiple of four.
#if INNER % 4 == 0
vec4 texel(int t) {
  int base = t / ${INNER / 4} * ${SIZE * INNER / 4} + t % ${INNER / 4};
  vec4 part = vec4(${FIRST});
  for (int l = 0; l < ${SIZE}; l++) {
    vec4 v = in0_texel(base + l * ${INNER / 4});
    part = ${NEXT};
  }
  return ${LAST};
}
#else
#include "lanes.glsl"
float element(int lane) {
  int base = lane_base(lane);
  float part = ${FIRST};
  for (int l = 0; l < ${SIZE}; l++) {
    float v = in0_element(base + l * ${INNER});
    part = ${NEXT};
  }
  return ${LAST};
}
#endif
#include "flat.glsl"
