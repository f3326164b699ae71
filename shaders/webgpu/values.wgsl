// The frame of a shader of gpu/, SHADER, which computes each value of the result by itself: elements, or four of them
// at once. It reads its first input as in0_value(i), in0_element(e) and, with TEXELS0, in0_texel(t).
#if ELEMENTS
alias T = f32;
alias Truth = bool;
#else
alias T = vec4f;
alias Truth = vec4<bool>;
#endif
#for I in 0..INPUTS
#if TEXELS[I]
@group(0) @binding(${I}) var<storage, read> in${I}: array<vec4f>;
fn in${I}_texel(t: i32) -> vec4f {
  return in${I}[t];
}
fn in${I}_element(e: i32) -> f32 {
  return in${I}[e / 4][e % 4];
}
#else
@group(0) @binding(${I}) var<storage, read> in${I}: array<f32>;
fn in${I}_element(e: i32) -> f32 {
  return in${I}[e];
}
#endif
fn in${I}_value(i: i32) -> T {
#if ELEMENTS
  return in${I}_element(i);
#else
  return in${I}_texel(i);
#endif
}
#end
@group(0) @binding(${INPUTS}) var<storage, read_write> result: array<T>;

fn is_less(a: T, b: T) -> Truth {
  return a < b;
}
fn is_at_least(a: T, b: T) -> Truth {
  return a >= b;
}
fn is_equal(a: T, b: T) -> Truth {
  return a == b;
}
// An expression would be an error.
fn nan() -> f32 {
  var bits = 0x7fc00000u;
  return bitcast<f32>(bits);
}

#include "${SHADER}"

@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * ${ROW}u;
  if (i < ${COUNT}u) {
    result[i] = value_at(i32(i));
  }
}
