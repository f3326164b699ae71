// The vector form of the strict functions: the same formulas as the scalar ones, on Highway lanes.
// Included once per instruction set, after highway.h and between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE of its own. Never uses Highway's fused operations.
#if defined(DRIFTSCOPE_STRICT_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DRIFTSCOPE_STRICT_LANES_INL
#undef DRIFTSCOPE_STRICT_LANES_INL
#else
#define DRIFTSCOPE_STRICT_LANES_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;

#include "core/numerics/strict_math_formulas.inc"

struct VectorLanes {
  using Float = FloatVector;
  using UintTag = hn::RebindToUnsigned<FloatTag>;
  using Uint = hn::Vec<UintTag>;
  using Mask = hn::Mask<FloatTag>;

  static HWY_INLINE Float set(float x) { return hn::Set(FloatTag(), x); }
  static HWY_INLINE Float add(Float a, Float b) { return hn::Add(a, b); }
  static HWY_INLINE Float sub(Float a, Float b) { return hn::Sub(a, b); }
  static HWY_INLINE Float mul(Float a, Float b) { return hn::Mul(a, b); }
  static HWY_INLINE Float div(Float a, Float b) { return hn::Div(a, b); }
  static HWY_INLINE Mask less(Float a, Float b) { return hn::Lt(a, b); }
  static HWY_INLINE Float select(Mask mask, Float yes, Float no) { return hn::IfThenElse(mask, yes, no); }
  static HWY_INLINE Uint bits(Float x) { return hn::BitCast(UintTag(), x); }
  static HWY_INLINE Float from_bits(Uint x) { return hn::BitCast(FloatTag(), x); }
  static HWY_INLINE Uint add_bits(Uint a, std::uint32_t b) { return hn::Add(a, hn::Set(UintTag(), b)); }
  static HWY_INLINE Uint sub_bits(Uint a, Uint b) { return hn::Sub(a, b); }
  static HWY_INLINE Uint and_bits(Uint a, std::uint32_t b) { return hn::And(a, hn::Set(UintTag(), b)); }
  static HWY_INLINE Uint or_bits(Uint a, Uint b) { return hn::Or(a, b); }
  template <int count>
  static HWY_INLINE Uint shift_left(Uint a) {
    return hn::ShiftLeft<count>(a);
  }
  template <int count>
  static HWY_INLINE Uint shift_right(Uint a) {
    return hn::ShiftRight<count>(a);
  }
};

using StrictMath = StrictMathFormulas<VectorLanes>;

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
