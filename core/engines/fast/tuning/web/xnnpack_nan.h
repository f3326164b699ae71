// Redefines min and max in XNNPACK's float32 micro kernels, so that NaN stays NaN: XNNPACK's own return the
// bound or the other number instead; relaxed ones depend on the processor. Included before the
// kernels' sources, by core/engines/fast/xnnpack.cmake. DRIFTSCOPE_BOUND_FIRST: in this source the first
// operand is a bound, never NaN. Then min and max are one instruction on x86, as before.
#pragma once
#include <wasm_simd128.h>

// pmax(a, b) is a < b ? b : a: NaN as the first operand stays NaN. As the second it is ORed in here, as
// a NaN of all ones.
#ifdef DRIFTSCOPE_BOUND_FIRST
static inline v128_t ds_max(v128_t bound, v128_t x) { return wasm_f32x4_pmax(x, bound); }
static inline v128_t ds_min(v128_t bound, v128_t x) { return wasm_f32x4_pmin(x, bound); }
#else
static inline v128_t ds_max(v128_t a, v128_t b) {
  return wasm_v128_or(wasm_f32x4_pmax(a, b), wasm_f32x4_ne(b, b));
}
static inline v128_t ds_min(v128_t a, v128_t b) {
  return wasm_v128_or(wasm_f32x4_pmin(a, b), wasm_f32x4_ne(b, b));
}
#endif

// XNNPACK implements Relu as an integer max, which turns a NaN with a sign into 0. −0 becomes +0 here too.
static inline v128_t ds_relu(v128_t x, v128_t zero) { return wasm_v128_andnot(x, wasm_f32x4_le(x, zero)); }

#define wasm_f32x4_pmax ds_max
#define wasm_f32x4_pmin ds_min
#define wasm_i32x4_max ds_relu
#ifdef __wasm_relaxed_simd__
#define wasm_f32x4_relaxed_max ds_max
#define wasm_f32x4_relaxed_min ds_min
#endif
