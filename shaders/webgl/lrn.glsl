// y = x / (BIAS + WEIGHT * sum of x^2 over BEFORE + 1 + AFTER channels)^BETA. Channels lie INNER elements apart.
float element(int e) {
  int c = e / ${INNER} % ${CHANNELS};
  int channel_0 = e - c * ${INNER};
  float squares = 0.0;
  for (int k = max(c - ${BEFORE}, 0); k <= min(c + ${AFTER}, ${CHANNELS - 1}); k++) {
    float v = in0_element(channel_0 + k * ${INNER});
    squares += v * v;
  }
  return in0_element(e) / pow(${BIAS} + ${WEIGHT} * squares, ${BETA});
}
#include "flat.glsl"
