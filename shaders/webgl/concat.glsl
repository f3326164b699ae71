#include "inputs.glsl"
// Runs of several values side by side, RUN elements or texels in all. PIECES says which value holds place j.
#if ELEMENTS
float value_at(int i) {
#else
vec4 value_at(int i) {
#endif
  int j = i % ${RUN};
  int outer = i / ${RUN};
${PIECES}
#if ELEMENTS
  return 0.0;
#else
  return vec4(0.0);
#endif
}
#include "flat.glsl"
