#include "core/engines/strict/simd/quantize.hpp"

#include <algorithm>
#include <limits>

#include "core/engines/strict/simd/gemm.hpp"
#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/strict/simd/quantize.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using StepFloat = hn::ScalableTag<float>;
using StepInt = hn::ScalableTag<std::int32_t>;
using StepFloats = hn::Vec<StepFloat>;
using StepInts = hn::Vec<StepInt>;
constexpr std::size_t step_lanes = hn::MaxLanes(StepFloat());

// To bytes. A number is first clamped to the ends, which are integers, and then rounded: the reverse
// order has the same result, but here it is small enough to round by adding 3·2²², below which a
// float has no fraction.
class ToSteps {
 public:
  explicit ToSteps(const ByteSteps& steps)
      : low_(hn::Set(StepFloat(), static_cast<float>(steps.low - steps.zero))),
        high_(hn::Set(StepFloat(), static_cast<float>(steps.high - steps.zero))),
        zero_(hn::Set(StepInt(), steps.zero)) {}

  HWY_INLINE void store(StepFloats x, std::uint8_t* y) const {
    const StepFloat d;
    x = hn::IfThenElse(hn::IsNaN(x), hn::Zero(d), x);
    x = hn::IfThenElse(hn::Lt(x, low_), low_, x);
    x = hn::IfThenElse(hn::Gt(x, high_), high_, x);
    const auto shift = hn::Set(d, 0x1.8p23f);
    const StepInts step = hn::Add(hn::ConvertTo(StepInt(), hn::Sub(hn::Add(x, shift), shift)), zero_);
    const hn::Rebind<std::uint8_t, StepInt> bytes;
    hn::StoreU(hn::TruncateTo(bytes, hn::BitCast(hn::RebindToUnsigned<StepInt>(), step)), bytes, y);
  }

 private:
  StepFloats low_;
  StepFloats high_;
  StepInts zero_;
};

// Calls number(i) for each vector; the last one may extend beyond n and is then filled with copies.
template <class T, class Number>
HWY_INLINE void to_bytes(const T* x, const ByteSteps& steps, std::uint8_t* y, std::size_t n,
                         const Number& number) {
  const ToSteps to_steps(steps);
  const hn::ScalableTag<T> d;
  std::size_t i = 0;
  for (; i + step_lanes <= n; i += step_lanes)
    to_steps.store(number(hn::LoadU(d, x + i), i, step_lanes), y + i);
  if (i == n) return;
  HWY_ALIGN T part[step_lanes] = {};
  HWY_ALIGN std::uint8_t bytes[step_lanes];
  std::copy_n(x + i, n - i, part);
  to_steps.store(number(hn::Load(d, part), i, n - i), bytes);
  std::copy_n(bytes, n - i, y + i);
}

void quantize(const float* x, float scale, const ByteSteps& steps, std::uint8_t* y, std::size_t n) {
  const auto divisor = hn::Set(StepFloat(), scale);
  to_bytes(x, steps, y, n, [&](StepFloats v, std::size_t, std::size_t) { return hn::Div(v, divisor); });
}

void requantize(const std::int32_t* sums, float factor, const ByteSteps& steps, std::uint8_t* y,
                std::size_t n) {
  const auto by = hn::Set(StepFloat(), factor);
  to_bytes(sums, steps, y, n,
           [&](StepInts v, std::size_t, std::size_t) { return hn::Mul(hn::ConvertTo(StepFloat(), v), by); });
}

void requantize_each(const std::int32_t* sums, const float* factors, const ByteSteps& steps, std::uint8_t* y,
                     std::size_t n) {
  const StepFloat d;
  to_bytes(sums, steps, y, n, [&](StepInts v, std::size_t i, std::size_t count) {
    HWY_ALIGN float part[step_lanes] = {};
    if (count < step_lanes) std::copy_n(factors + i, count, part);
    const auto by = count < step_lanes ? hn::Load(d, part) : hn::LoadU(d, factors + i);
    return hn::Mul(hn::ConvertTo(d, v), by);
  });
}

template <class T>
void dequantize(const T* x, std::int32_t zero, float scale, float* y, std::size_t n) {
  const StepFloat d;
  const hn::Rebind<T, StepInt> bytes;
  const auto zeros = hn::Set(StepInt(), zero);
  const auto by = hn::Set(d, scale);
  std::size_t i = 0;
  for (; i + step_lanes <= n; i += step_lanes) {
    const auto distance = hn::Sub(hn::PromoteTo(StepInt(), hn::LoadU(bytes, x + i)), zeros);
    hn::StoreU(hn::Mul(hn::ConvertTo(d, distance), by), d, y + i);
  }
  for (; i < n; ++i) y[i] = static_cast<float>(x[i] - zero) * scale;
}

template <class T>
void pairs(const T* x, std::ptrdiff_t apart, std::int32_t zero, std::int32_t* pairs, std::size_t n) {
  const StepInt d;
  const hn::Rebind<T, StepInt> bytes;
  const auto zeros = hn::Set(d, zero);
  const auto low = hn::Set(d, 0xffff);
  const auto distance = [&](const T* from) {
    return hn::Sub(hn::PromoteTo(d, hn::LoadU(bytes, from)), zeros);
  };
  std::size_t i = 0;
  for (; i + step_lanes <= n; i += step_lanes)
    hn::StoreU(hn::Or(hn::And(distance(x + i), low), hn::ShiftLeft<16>(distance(x + i + apart))), d,
               pairs + i);
  for (; i < n; ++i) pairs[i] = pair_of(x[i] - zero, x[i + static_cast<std::size_t>(apart)] - zero);
}

void widen_range(const float* x, std::size_t n, float& low, float& high) {
  const StepFloat d;
  auto smallest = hn::Set(d, low);
  auto largest = hn::Set(d, high);
  auto nan = hn::IsNaN(smallest);
  std::size_t i = 0;
  for (; i + step_lanes <= n; i += step_lanes) {
    const auto v = hn::LoadU(d, x + i);
    smallest = hn::IfThenElse(hn::Lt(v, smallest), v, smallest);
    largest = hn::IfThenElse(hn::Gt(v, largest), v, largest);
    nan = hn::Or(nan, hn::IsNaN(v));
  }
  bool any = !hn::AllFalse(d, nan);
  HWY_ALIGN float parts[2][step_lanes];
  hn::Store(smallest, d, parts[0]);
  hn::Store(largest, d, parts[1]);
  low = *std::min_element(parts[0], parts[0] + step_lanes);
  high = *std::max_element(parts[1], parts[1] + step_lanes);
  for (; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
    any = any || x[i] != x[i];
  }
  if (any) low = high = std::numeric_limits<float>::quiet_NaN();
}

QuantizeKernels make_quantize_kernels() {
  return {&quantize,
          &requantize,
          &requantize_each,
          &dequantize<std::uint8_t>,
          &dequantize<std::int8_t>,
          &pairs<std::uint8_t>,
          &pairs<std::int8_t>,
          &widen_range};
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope {

HWY_EXPORT(make_quantize_kernels);

QuantizeKernels quantize_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_quantize_kernels), target.highway)();
}

}  // namespace driftscope
#endif  // HWY_ONCE
