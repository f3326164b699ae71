// sigmoid and tanh for recurrent steps, which take a good part of a step: strict's polynomials
// (strict_math_formulas.inc) without what mends their roundings, fused where the processor can.
// Within 3 ULP where the result is a normal number; a result below e^−87 may be as large as that.
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

HWY_INLINE FloatVector constant(float x) { return hw::Set(FloatTag(), x); }

/// eˣ for x ≤ 0, not less than e^−87; a NaN stays one.
HWY_INLINE FloatVector exp_below(FloatVector x) {
  const hw::RebindToUnsigned<FloatTag> u;
  const FloatVector least = constant(-87.0f);
  x = hw::IfThenElse(hw::Lt(x, least), least, x);
  // 1.5·2²³ + 127: the sum's low bits are the exponent of 2ⁿ, n the integer next to x ÷ ln 2.
  const FloatVector magic = constant(0x1.8000fep23f);
  const FloatVector shifted = mul_add(x, constant(0x1.715476p+0f), magic);
  const FloatVector n = hw::Sub(shifted, magic);
  FloatVector r = mul_add(n, constant(-0x1.62e4p-1f), x);
  r = mul_add(n, constant(-0x1.7f7d1cp-20f), r);
  FloatVector p = mul_add(constant(0x1.9e188cp-13f), r, constant(0x1.6d4f4ep-10f));
  p = mul_add(p, r, constant(0x1.111302p-7f));
  p = mul_add(p, r, constant(0x1.5554e6p-5f));
  p = mul_add(p, r, constant(0x1.555554p-3f));
  p = mul_add(p, r, constant(0.5f));
  p = mul_add(hw::Mul(r, r), p, r);
  const FloatVector power = hw::BitCast(FloatTag(), hw::ShiftLeft<23>(hw::BitCast(u, shifted)));
  return mul_add(p, power, power);
}

/// e^−|x|/(1 + e^−|x|) below zero, 1/(1 + e^−|x|) above.
HWY_INLINE FloatVector sigmoid(FloatVector x) {
  const FloatVector one = constant(1.0f);
  const FloatVector e = exp_below(hw::Neg(hw::Abs(x)));
  const FloatVector numerator = hw::IfThenElse(hw::Lt(x, hw::Zero(FloatTag())), e, one);
  return hw::Div(numerator, hw::Add(one, e));
}

/// |x| < 0.625: x + x³·P(x²). Beyond: 1 − 2e/(1 + e), e = e^(−2|x|).
HWY_INLINE FloatVector tanh(FloatVector x) {
  const FloatVector one = constant(1.0f);
  const FloatVector a = hw::Abs(x);
  const FloatVector z = hw::Mul(a, a);
  FloatVector p = mul_add(constant(0x1.1ace3ep-9f), z, constant(-0x1.0c895ep-7f));
  p = mul_add(p, z, constant(0x1.63ad18p-6f));
  p = mul_add(p, z, constant(-0x1.b9f220p-5f));
  p = mul_add(p, z, constant(0x1.11107cp-3f));
  p = mul_add(p, z, constant(-0x1.555554p-2f));
  const FloatVector small = mul_add(hw::Mul(a, z), p, a);
  const FloatVector e = exp_below(hw::Mul(constant(-2.0f), a));
  const FloatVector large = hw::Sub(one, hw::Div(hw::Add(e, e), hw::Add(one, e)));
  return hw::CopySign(hw::IfThenElse(hw::Lt(a, constant(0.625f)), small, large), x);
}

}  // namespace activations
}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
