// The end of a shader that computes each value by itself: it defines `vec4 value_at(int t)` of a texel, or with
// ELEMENTS `float value_at(int e)`. COUNT: elements of the result.
vec4 texel(int t) {
#if ELEMENTS
  vec4 value;
  for (int i = 0; i < 4; i++) value[i] = value_at(min(4 * t + i, ${COUNT - 1}));
  return value;
#else
  return value_at(t);
#endif
}

void main() {
  int q = pixel();
#for L in 0..LAYERS_USED
  out${L} = texel(min(q + ${L * LAYER_TEXELS}, ${(COUNT + 3) / 4 - 1}));
#end
#for L in LAYERS_USED..LAYERS
  out${L} = vec4(0.0);
#end
}
