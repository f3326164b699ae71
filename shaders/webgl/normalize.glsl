// (x - mean) * factor of each lane with what normalize_of_lane.glsl found, times a scale and plus a bias, both of
// which SCALE_AT finds for element l of a lane.
float element(int e) {
  int lane_at = e / ${SIZE * INNER} * ${INNER} + e % ${INNER};
  int l = e / ${INNER} % ${SIZE};
  vec4 lane = in1_texel(lane_at);
  int s = ${SCALE_AT};
#if BIAS
  return (in0_element(e) - lane.x) * lane.y * in2_element(s) + in3_element(s);
#else
  return (in0_element(e) - lane.x) * lane.y * in2_element(s);
#endif
}
#include "flat.glsl"
