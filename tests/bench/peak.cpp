#include "tests/bench/peak.hpp"

#include <algorithm>

#include "core/numerics/simd_targets.hpp"
#include "core/platform/platform.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/peak.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// `rounds` times 6 additions and 6 multiplications, none waiting for another; returns the
/// operations on floats. `values` holds 14 floats, which the results depend on.
double multiply_and_add(std::int64_t rounds, float* values) {
  const hn::ScalableTag<float> d;
  const auto addend = hn::Set(d, values[12]);
  const auto factor = hn::Set(d, values[13]);
  auto a0 = hn::Set(d, values[0]), a1 = hn::Set(d, values[1]), a2 = hn::Set(d, values[2]);
  auto a3 = hn::Set(d, values[3]), a4 = hn::Set(d, values[4]), a5 = hn::Set(d, values[5]);
  auto m0 = hn::Set(d, values[6]), m1 = hn::Set(d, values[7]), m2 = hn::Set(d, values[8]);
  auto m3 = hn::Set(d, values[9]), m4 = hn::Set(d, values[10]), m5 = hn::Set(d, values[11]);
  for (std::int64_t i = 0; i < rounds; ++i) {
    a0 = hn::Add(a0, addend), m0 = hn::Mul(m0, factor);
    a1 = hn::Add(a1, addend), m1 = hn::Mul(m1, factor);
    a2 = hn::Add(a2, addend), m2 = hn::Mul(m2, factor);
    a3 = hn::Add(a3, addend), m3 = hn::Mul(m3, factor);
    a4 = hn::Add(a4, addend), m4 = hn::Mul(m4, factor);
    a5 = hn::Add(a5, addend), m5 = hn::Mul(m5, factor);
  }
  const auto sums = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(a4, a5));
  const auto products = hn::Add(hn::Add(hn::Add(m0, m1), hn::Add(m2, m3)), hn::Add(m4, m5));
  values[0] = hn::GetLane(sums);
  values[6] = hn::GetLane(products);
  return 12.0 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope {

HWY_EXPORT(multiply_and_add);

double peak_gflops(const SimdTarget& target) {
  // Called through a volatile pointer, so that it remains a separate function: a browser's engine
  // replaces the first, slow code of a function only between two calls.
  double (*volatile run)(std::int64_t, float*) =
      simd_function(HWY_DISPATCH_TABLE(multiply_and_add), target.highway);
  // Volatile, or a compiler that sees neutral operands and unused results removes the work.
  const volatile float one = 1.0f;
  const volatile float zero = 0.0f;
  volatile float result = 0.0f;
  float values[14];
  double best = 0.0;
  // A second, for a browser's engine to have optimised the function.
  const std::int64_t start = monotonic_ns();
  while (monotonic_ns() - start < 1'000'000'000) {
    // Neutral operands: nothing ever overflows or becomes subnormal.
    std::fill_n(values, 14, one);
    values[12] = zero;
    const std::int64_t begin = monotonic_ns();
    const double operations = run(100'000, values);
    result = values[0] + values[6];
    best = std::max(best, operations / static_cast<double>(monotonic_ns() - begin));
  }
  (void)result;
  return best;
}

}  // namespace driftscope
#endif  // HWY_ONCE
