// sigmoid and tanh for recurrent steps, where they take much of the time: strict's polynomial for exp
// (strict_math_formulas.inc) without the corrections of its roundings, fused where the processor can.
// Within 3 ULP, tanh 3.5, for normal results; a result below e^−87 may have an error of its own size.
// Included once per instruction set, after highway.h.
#if defined(DRIFTSCOPE_FAST_ACTIVATIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DRIFTSCOPE_FAST_ACTIVATIONS_INL
#undef DRIFTSCOPE_FAST_ACTIVATIONS_INL
#else
#define DRIFTSCOPE_FAST_ACTIVATIONS_INL
#endif

#include <hwy/highway.h>

#include "core/engines/fast/simd/mul_add-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {
namespace activations {

namespace hw = hwy::HWY_NAMESPACE;

/// The functions' constants in memory, where V8 reads one in one instruction. As literals it rebuilds each
/// in every iteration of a loop, in three instructions, two of which compete for one port of the processor.
struct Constants {
  float one = 1.0f;
  float two = 2.0f;
  float magic = 0x1.8000fep23f;  // 1.5·2²³ + 127
  // e^−x: the range in which neither it nor 1/(1 + it) leaves the normal numbers; 1 ÷ ln 2 and ln 2,
  // in two parts; the polynomial's coefficients, largest power first.
  float exp_min = -87.0f;
  float exp_max = 87.0f;
  float exp_scale = -0x1.715476p+0f;
  float exp_high = 0x1.62e4p-1f;
  float exp_low = 0x1.7f7d1cp-20f;
  float exp[7] = {
      -0x1.9e188cp-13f, 0x1.6d4f4ep-10f, -0x1.111302p-7f, 0x1.5554e6p-5f, -0x1.555554p-3f, 0.5f, -1.0f};
  // e^2x − 1: beyond these tanh is 1; the same for 2x.
  float tanh_min = -9.02f;
  float tanh_max = 9.02f;
  float tanh_scale = 0x1.715476p+1f;
  float tanh_high = -0x1.62e4p-2f;
  float tanh_low = -0x1.7f7d1cp-21f;
  float tanh[7] = {
      0x1.9e188cp-6f, 0x1.6d4f4ep-4f, 0x1.111302p-2f, 0x1.5554e6p-1f, 0x1.555554p+0f, 2.0f, 2.0f};
};
constexpr Constants in_memory;

HWY_INLINE const Constants& constants() {
  const Constants* at = &in_memory;
  asm("" : "+r"(at));  // hides it, or the compiler would inline the constants
  return *at;
}

HWY_INLINE FloatVector every(float x) { return hw::Set(FloatTag(), x); }

/// min ≤ x ≤ max; NaN stays NaN.
HWY_INLINE FloatVector clamp(FloatVector x, float min, float max) {
  const FloatVector low = every(min), high = every(max);
#if HWY_TARGET == HWY_WASM
  return FloatVector{wasm_f32x4_pmin(wasm_f32x4_pmax(x.raw, low.raw), high.raw)};
#else
  x = hw::IfThenElse(hw::Lt(x, low), low, x);
  return hw::IfThenElse(hw::Lt(high, x), high, x);
#endif
}

/// The power of two whose exponent is in the low bits of `shifted`, a sum with Constants::magic.
HWY_INLINE FloatVector power_of(FloatVector shifted) {
  const hw::RebindToUnsigned<FloatTag> u;
  return hw::BitCast(FloatTag(), hw::ShiftLeft<23>(hw::BitCast(u, shifted)));
}

/// 1/(1 + e^−x).
HWY_INLINE FloatVector sigmoid(const Constants& k, FloatVector x) {
  x = clamp(x, k.exp_min, k.exp_max);
  const FloatVector shifted = mul_add(x, every(k.exp_scale), every(k.magic));
  const FloatVector n = hw::Sub(shifted, every(k.magic));  // the integer next to −x ÷ ln 2
  FloatVector r = mul_add(n, every(k.exp_high), x);
  r = mul_add(n, every(k.exp_low), r);
  FloatVector p = mul_add(every(k.exp[0]), r, every(k.exp[1]));
  HWY_UNROLL(5)
  for (int i = 2; i < 7; ++i) p = mul_add(p, r, every(k.exp[i]));
  p = mul_add(p, r, every(k.one));
  const FloatVector e = hw::Mul(p, power_of(shifted));
  return hw::Div(every(k.one), hw::Add(every(k.one), e));
}

/// m/(m + 2), m = e^2x − 1, which keeps its accuracy near 0: 2ⁿ·(e^r − 1) + (2ⁿ − 1).
HWY_INLINE FloatVector tanh(const Constants& k, FloatVector x) {
  x = clamp(x, k.tanh_min, k.tanh_max);
  const FloatVector shifted = mul_add(x, every(k.tanh_scale), every(k.magic));
  const FloatVector n = hw::Sub(shifted, every(k.magic));
  FloatVector r = mul_add(n, every(k.tanh_high), x);
  r = mul_add(n, every(k.tanh_low), r);
  FloatVector p = mul_add(every(k.tanh[0]), r, every(k.tanh[1]));
  HWY_UNROLL(5)
  for (int i = 2; i < 7; ++i) p = mul_add(p, r, every(k.tanh[i]));
  const FloatVector power = power_of(shifted);
  const FloatVector m = mul_add(hw::Mul(p, r), power, hw::Sub(power, every(k.one)));
  return hw::Div(m, hw::Add(m, every(k.two)));
}

}  // namespace activations
}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
