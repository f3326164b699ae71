#include "core/engines/fast/simd/add.hpp"

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/fast/simd/add.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void add(const float* a, const float* b, float low, float high, float* y, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto bottom = hn::Set(d, low);
  const auto top = hn::Set(d, high);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto sum = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    sum = hn::IfThenElse(hn::Lt(sum, bottom), bottom, sum);
    sum = hn::IfThenElse(hn::Gt(sum, top), top, sum);
    hn::StoreU(sum, d, y + i);
  }
  for (; i < n; ++i) {
    const float sum = a[i] + b[i];
    const float raised = sum < low ? low : sum;
    y[i] = raised > high ? high : raised;
  }
}

AddClamped get_add() { return &add; }

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope::fast {

HWY_EXPORT(get_add);

AddClamped add_clamped(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(get_add), target.highway)();
}

}  // namespace driftscope::fast
#endif  // HWY_ONCE
