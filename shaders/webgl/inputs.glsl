#version 300 es
// What each program begins with: its textures as functions of the place of a texel or element, and its outputs.
// Texture I has LAYERS_OF[I] layers of LAYER_TEXELS_OF[I] texels, in rows of 2^WIDTH_BITS[I].
precision highp float;
precision highp int;
precision highp sampler2DArray;
#for I in 0..INPUTS
uniform sampler2DArray in${I};
// Texel q of a layer.
vec4 in${I}_at(int q, int layer) {
  return texelFetch(in${I}, ivec3(q & ${WIDTH[I] - 1}, q >> ${WIDTH_BITS[I]}, layer), 0);
}
int in${I}_layer(int t) {
  int layer = 0;
#for L in 1..LAYERS_OF[I]
  layer += int(t >= ${L * LAYER_TEXELS_OF[I]});
#end
  return layer;
}
vec4 in${I}_texel(int t) {
  int layer = in${I}_layer(t);
  return in${I}_at(t - layer * ${LAYER_TEXELS_OF[I]}, layer);
}
float in${I}_element(int e) { return in${I}_texel(e >> 2)[e & 3]; }
#end
#for L in 0..LAYERS
layout(location = ${L}) out vec4 out${L};
#end
int pixel() { return int(gl_FragCoord.y) * ${WIDTH_OF_RESULT} + int(gl_FragCoord.x); }
