#include "inputs.glsl"
// A texel for each lane: its largest element, and the sum of exp(x - largest). COUNT: four times the lanes.
#include "lanes.glsl"
vec4 value_at(int lane) {
  int base = lane_base(lane);
  float largest = in0_element(base);
  for (int l = 1; l < ${SIZE}; l++) largest = max(largest, in0_element(base + l * ${INNER}));
  float sum = 0.0;
  for (int l = 0; l < ${SIZE}; l++) sum += exp(in0_element(base + l * ${INNER}) - largest);
  return vec4(largest, sum, 0.0, 0.0);
}
#include "flat.glsl"
