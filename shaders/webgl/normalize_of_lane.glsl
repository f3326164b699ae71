#include "inputs.glsl"
// A texel for each lane: its mean (0 unless CENTERED), and 1 / sqrt(variance + EPSILON). COUNT: four times the lanes.
#include "lanes.glsl"
vec4 value_at(int lane) {
  int base = lane_base(lane);
  float sum = 0.0;
#if CENTERED
  for (int l = 0; l < ${SIZE}; l++) sum += in0_element(base + l * ${INNER});
  float mean = sum / ${SIZE}.0;
  sum = 0.0;
#else
  float mean = 0.0;
#endif
  for (int l = 0; l < ${SIZE}; l++) {
    float d = in0_element(base + l * ${INNER}) - mean;
    sum += d * d;
  }
  return vec4(mean, 1.0 / sqrt(sum / ${SIZE}.0 + ${EPSILON}), 0.0, 0.0);
}
#include "flat.glsl"
