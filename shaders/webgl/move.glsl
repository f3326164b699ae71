// Elements from other places: FROM says where element or texel i comes from.
#if ELEMENTS
float element(int i) { return in0_element(${FROM}); }
#elif ONE_FOR_ALL
vec4 texel(int i) { return vec4(in0_element(${FROM})); }
#else
vec4 texel(int i) { return in0_texel(${FROM}); }
#endif
#include "flat.glsl"
