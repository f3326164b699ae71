#include "core/engines/strict/simd/decode.hpp"

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/strict/simd/decode.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DecodedFloat = hn::ScalableTag<float>;
using StepWord = hn::RebindToSigned<DecodedFloat>;
using StepWords = hn::Vec<StepWord>;
constexpr std::size_t decode_lanes = hn::MaxLanes(DecodedFloat());

HWY_INLINE StepWords load_steps(const std::uint8_t* from) {
  const hn::Rebind<std::uint8_t, StepWord> bytes;
  return hn::PromoteTo(StepWord(), hn::LoadU(bytes, from));
}

HWY_INLINE void store_row(const StepsBlock& block, std::size_t k, std::size_t j, StepWords steps,
                          float* out) {
  const DecodedFloat d;
  const std::size_t at = static_cast<std::size_t>(block.groups[k]) * block.width + j;
  const auto zero = hn::LoadU(d, block.zeros + at);
  const auto scale = hn::LoadU(d, block.scales + at);
  hn::StoreU(hn::Mul(hn::Sub(hn::ConvertTo(d, steps), zero), scale), d, out + k * block.width + j);
}

void decode_bytes(const StepsBlock& block, float* out) {
  for (std::size_t k = 0; k < block.rows; ++k)
    for (std::size_t j = 0; j < block.width; j += decode_lanes)
      store_row(block, k, j, load_steps(block.steps + k * block.width + j), out);
}

void decode_nibbles(const StepsBlock& block, float* out) {
  const auto low = hn::Set(StepWord(), 15);
  for (std::size_t k = 0; k < block.rows; k += 2)
    for (std::size_t j = 0; j < block.width; j += decode_lanes) {
      const StepWords both = load_steps(block.steps + k / 2 * block.width + j);
      store_row(block, k, j, hn::And(both, low), out);
      if (k + 1 < block.rows) store_row(block, k + 1, j, hn::ShiftRight<4>(both), out);
    }
}

DecodeKernels make_decode_kernels() { return {&decode_bytes, &decode_nibbles}; }

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope {

HWY_EXPORT(make_decode_kernels);

DecodeKernels decode_kernels(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(make_decode_kernels), target.highway)();
}

}  // namespace driftscope
#endif  // HWY_ONCE
