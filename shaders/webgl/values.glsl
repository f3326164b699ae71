#include "inputs.glsl"
// The frame of a shader of gpu/, SHADER, which computes each value of the result by itself: elements, or four of them
// at once. Its declarations are respelled as GLSL's; the rest is here. ALIKE: it reads of each input the value that it
// computes, and all of them lie as the result does.
#define f32 float
#define i32 int
#define vec4f vec4
#define vec2i ivec2
#define vec3i ivec3
#define round roundEven
#if ELEMENTS
#define T float
#else
#define T vec4
#endif
#if ALIKE
int layer_of_result = 0;
#endif
#for I in 0..INPUTS
#if ELEMENTS
float in${I}_value(int e) { return in${I}_element(e); }
#elif ALIKE
vec4 in${I}_value(int q) { return in${I}_at(q, layer_of_result); }
#else
vec4 in${I}_value(int t) { return in${I}_texel(t); }
#endif
#end

int select(int a, int b, bool of_b) { return of_b ? b : a; }
float select(float a, float b, bool of_b) { return of_b ? b : a; }
vec4 select(vec4 a, vec4 b, bvec4 of_b) { return mix(a, b, of_b); }
bool is_less(float a, float b) { return a < b; }
bvec4 is_less(vec4 a, vec4 b) { return lessThan(a, b); }
bool is_at_least(float a, float b) { return a >= b; }
bvec4 is_at_least(vec4 a, vec4 b) { return greaterThanEqual(a, b); }
bool is_equal(float a, float b) { return a == b; }
bvec4 is_equal(vec4 a, vec4 b) { return equal(a, b); }
float nan() { return uintBitsToFloat(0x7fc00000u); }

#include "${SHADER}"
#if ALIKE
void main() {
  int q = pixel();
#for L in 0..LAYERS
  layer_of_result = ${L};
  out${L} = value_at(q);
#end
}
#else
#include "flat.glsl"
#endif
