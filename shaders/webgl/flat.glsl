// The end of a shader that computes each texel by itself: it defines `vec4 texel(int t)`, or with ELEMENTS
// `float element(int e)`. COUNT: elements of the result.
#if ELEMENTS
vec4 texel(int t) {
  vec4 value;
  for (int i = 0; i < 4; i++) value[i] = element(min(4 * t + i, ${COUNT - 1}));
  return value;
}
#endif

void main() {
  int q = pixel();
#for L in 0..LAYERS_USED
  out${L} = texel(min(q + ${L * LAYER_TEXELS}, ${(COUNT + 3) / 4 - 1}));
#end
#for L in LAYERS_USED..LAYERS
  out${L} = vec4(0.0);
#end
}
