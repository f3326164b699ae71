#include "inputs.glsl"
// Softmax of each lane, or its logarithm, with what softmax_of_lane.glsl found.
float value_at(int e) {
  vec4 lane = in1_texel(e / ${SIZE * INNER} * ${INNER} + e % ${INNER});
#if LOGARITHM
  return in0_element(e) - lane.x - log(lane.y);
#else
  return exp(in0_element(e) - lane.x) / lane.y;
#endif
}
#include "flat.glsl"
