// Slices of a value along one axis, of SIZE, INNER elements each; CHOSEN of them.
float element(int e) {
  int place = int(in1_element(e / ${INNER} % ${CHOSEN}));
  return in0_element((e / ${INNER * CHOSEN} * ${SIZE} + place) * ${INNER} + e % ${INNER});
}
#include "flat.glsl"
