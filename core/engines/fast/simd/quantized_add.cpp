#include "core/engines/fast/simd/quantized_add.hpp"

#include <algorithm>

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/fast/simd/quantized_add.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using ByteTag = hn::Rebind<std::int8_t, FloatTag>;
constexpr std::size_t lanes = hn::MaxLanes(FloatTag());

HWY_INLINE hn::Vec<FloatTag> real(hn::Vec<ByteTag> bytes, std::int32_t zero, float scale) {
  const auto steps = hn::Sub(hn::PromoteTo(IntTag(), bytes), hn::Set(IntTag(), zero));
  return hn::Mul(hn::ConvertTo(FloatTag(), steps), hn::Set(FloatTag(), scale));
}

HWY_INLINE hn::Vec<ByteTag> sum(hn::Vec<ByteTag> a, hn::Vec<ByteTag> b, const QuantizedAdd& how) {
  const FloatTag d;
  const auto exact = hn::Add(real(a, how.a_zero, how.a_scale), real(b, how.b_zero, how.b_scale));
  // Bounds wide enough not to change the clamp below, but so that the result fits into an integer.
  const auto steps =
      hn::Min(hn::Max(hn::Div(exact, hn::Set(d, how.y_scale)), hn::Set(d, -1024.0f)), hn::Set(d, 1024.0f));
  auto rounded = hn::Add(hn::NearestInt(steps), hn::Set(IntTag(), how.y_zero));
  rounded = hn::Min(hn::Max(rounded, hn::Set(IntTag(), how.min)), hn::Set(IntTag(), how.max));
  return hn::DemoteTo(ByteTag(), rounded);
}

void add(const std::int8_t* a, const std::int8_t* b, const QuantizedAdd& how, std::int8_t* y, std::size_t n) {
  const ByteTag d;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(sum(hn::LoadU(d, a + i), hn::LoadU(d, b + i), how), d, y + i);
  if (i == n) return;
  HWY_ALIGN std::int8_t left[lanes] = {};
  HWY_ALIGN std::int8_t right[lanes] = {};
  HWY_ALIGN std::int8_t result[lanes];
  std::copy_n(a + i, n - i, left);
  std::copy_n(b + i, n - i, right);
  hn::Store(sum(hn::Load(d, left), hn::Load(d, right), how), d, result);
  std::copy_n(result, n - i, y + i);
}

AddQuantized get_add_quantized() { return &add; }

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope::fast {

HWY_EXPORT(get_add_quantized);

AddQuantized add_quantized(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(get_add_quantized), target.highway)();
}

}  // namespace driftscope::fast
#endif  // HWY_ONCE
