// x·y + z in one operation where the instruction set has one: Highway 1.0 does not support WebAssembly's
// relaxed SIMD. Included once per instruction set, after highway.h.
#if defined(DRIFTSCOPE_FAST_MUL_ADD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DRIFTSCOPE_FAST_MUL_ADD_INL
#undef DRIFTSCOPE_FAST_MUL_ADD_INL
#else
#define DRIFTSCOPE_FAST_MUL_ADD_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

using FloatTag = hwy::HWY_NAMESPACE::ScalableTag<float>;
using FloatVector = hwy::HWY_NAMESPACE::Vec<FloatTag>;

HWY_INLINE FloatVector mul_add(FloatVector x, FloatVector y, FloatVector z) {
#ifdef __wasm_relaxed_simd__
  return FloatVector{wasm_f32x4_relaxed_madd(x.raw, y.raw, z.raw)};
#else
  return hwy::HWY_NAMESPACE::MulAdd(x, y, z);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
