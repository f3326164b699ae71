#include "inputs.glsl"
// (x - mean) * factor of each lane with what normalize_of_lane.glsl found, times a scale and plus a bias, both of
// which SCALE_AT finds for element l of a lane.
float value_at(int e) {
  int lane = e / ${SIZE * INNER} * ${INNER} + e % ${INNER};
  int l = e / ${INNER} % ${SIZE};
  vec4 found = in1_texel(lane);
  int s = ${SCALE_AT};
  return (in0_element(e) - found.x) * found.y * in2_element(s) + in3_element(s);
}
#include "flat.glsl"
