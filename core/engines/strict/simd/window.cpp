#include "core/engines/strict/simd/window.hpp"

#include <limits>

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/strict/simd/window.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using WindowTag = hn::ScalableTag<float>;
using WindowVector = hn::Vec<WindowTag>;
constexpr std::int64_t window_lanes = static_cast<std::int64_t>(hn::MaxLanes(WindowTag()));

struct SumTaps {
  static constexpr float start = 0.0f;
  HWY_INLINE WindowVector operator()(WindowVector sum, WindowVector x) const { return hn::Add(sum, x); }
};
struct MaxTaps {
  static constexpr float start = -std::numeric_limits<float>::infinity();
  HWY_INLINE WindowVector operator()(WindowVector best, WindowVector x) const {
    return hn::IfThenElse(hn::Or(hn::Gt(best, x), hn::IsNaN(best)), best, x);
  }
};

template <class Apply>
void reduce_windows(const WindowRun& run) {
  const WindowTag d;
  const Apply apply;
  std::int64_t i = 0;
  for (; i + 2 * window_lanes <= run.count; i += 2 * window_lanes) {
    auto first = hn::Set(d, Apply::start);
    auto second = first;
    for (std::size_t t = 0; t < run.tap_count; ++t) {
      const float* taps = run.taps + run.offsets[t] + i;
      first = apply(first, hn::LoadU(d, taps));
      second = apply(second, hn::LoadU(d, taps + window_lanes));
    }
    hn::StoreU(first, d, run.y + i);
    hn::StoreU(second, d, run.y + i + window_lanes);
  }
  for (; i < run.count; i += window_lanes) {
    auto value = hn::Set(d, Apply::start);
    for (std::size_t t = 0; t < run.tap_count; ++t)
      value = apply(value, hn::LoadU(d, run.taps + run.offsets[t] + i));
    hn::StoreU(value, d, run.y + i);
  }
}

void every_second(const float* x, float* y, std::int64_t count) {
  const WindowTag d;
  std::int64_t i = 0;
  // The last vector would read one element too many.
  for (; i + window_lanes < count; i += window_lanes) {
    WindowVector even;
    WindowVector odd;
    hn::LoadInterleaved2(d, x + 2 * i, even, odd);
    hn::StoreU(even, d, y + i);
  }
  for (; i < count; ++i) y[i] = x[2 * i];
}

WindowKernels make_window_kernels() {
  return {static_cast<int>(window_lanes), &reduce_windows<SumTaps>, &reduce_windows<MaxTaps>, &every_second};
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope {

HWY_EXPORT(make_window_kernels);

WindowKernels window_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_window_kernels), target.highway)();
}

}  // namespace driftscope
#endif  // HWY_ONCE
