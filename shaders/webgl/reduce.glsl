#include "inputs.glsl"
// One number of each of the PARTS of a lane, PART elements long; of four lanes side by side at once where INNER is a
// multiple of four.
#if INNER % 4 == 0
vec4 value_at(int t) {
  int i = t % ${INNER / 4};
  int part_at = t / ${INNER / 4} % ${PARTS} * ${PART};
  int base = t / ${INNER / 4 * PARTS} * ${SIZE * INNER / 4} + i;
  vec4 part = vec4(${FIRST});
  for (int l = part_at; l < min(part_at + ${PART}, ${SIZE}); l++) {
    vec4 v = in0_texel(base + l * ${INNER / 4});
    part = ${NEXT};
  }
  vec4 whole = part;
  return ${LAST};
}
#else
float value_at(int e) {
  int i = e % ${INNER};
  int part_at = e / ${INNER} % ${PARTS} * ${PART};
  int base = e / ${INNER * PARTS} * ${SIZE * INNER} + i;
  float part = ${FIRST};
  for (int l = part_at; l < min(part_at + ${PART}, ${SIZE}); l++) {
    float v = in0_element(base + l * ${INNER});
    part = ${NEXT};
  }
  float whole = part;
  return ${LAST};
}
#endif
#include "flat.glsl"
