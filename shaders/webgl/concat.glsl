// Pieces side by side along an axis: of UNIT elements each. PIECES says which belongs to place j of the axis.
#if ELEMENTS
float element(int i) {
#else
vec4 texel(int i) {
#endif
  int inner = i % ${INNER};
  int j = i / ${INNER} % ${TOTAL};
  int outer = i / ${INNER * TOTAL};
${PIECES}
}
#include "flat.glsl"
