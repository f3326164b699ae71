// Each element of a resized image (channels last) from at most two rows and two columns. The tables have for each row
// or column of the result: its two sources, and their weights.
float element(int e) {
  int c = e % ${CHANNELS};
  vec4 column = in2_texel(e / ${CHANNELS} % ${OUT_W});
  vec4 row = in1_texel(e / ${CHANNELS * OUT_W} % ${OUT_H});
  int image = e / ${CHANNELS * OUT_W * OUT_H} * ${IN_H};
  ivec2 y = (image + ivec2(row.xy)) * ${IN_W};
  ivec2 x = ivec2(column.xy);
  float above = in0_element((y.x + x.x) * ${CHANNELS} + c) * column.z;
#if LINEAR
  above += in0_element((y.x + x.y) * ${CHANNELS} + c) * column.w;
  float below = in0_element((y.y + x.x) * ${CHANNELS} + c) * column.z;
  below += in0_element((y.y + x.y) * ${CHANNELS} + c) * column.w;
  return above * row.z + below * row.w;
#else
  return above;
#endif
}
#include "flat.glsl"
