#include "core/engines/strict/simd/target.hpp"

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/strict/simd/target.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

SimdTarget describe_target() {
  SimdTarget target;
  target.highway = HWY_TARGET;
  const hwy::HWY_NAMESPACE::ScalableTag<float> d;
  target.bits = static_cast<int>(hwy::HWY_NAMESPACE::Lanes(d)) * 32;
  return target;
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope {
namespace {

HWY_EXPORT(describe_target);

std::string target_name(const SimdTarget& target) {
  const std::string width = ", " + std::to_string(target.bits) + " bit";
  switch (target.highway) {
    case HWY_AVX3: return "AVX-512" + width;
    case HWY_AVX2: return "AVX2" + width;
    case HWY_SSE4: return "SSE4" + width;
    case HWY_NEON: return "NEON" + width;
    case HWY_WASM: return "wasm SIMD128";
    case HWY_EMU128:
    case HWY_SCALAR: return "no SIMD";
    default: return hwy::TargetName(target.highway) + width;
  }
}

std::vector<SimdTarget> find_targets() {
  std::vector<SimdTarget> found;
  // Lower bits are better targets.
  for (std::int64_t rest = HWY_SUPPORTED_TARGETS & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const std::int64_t bit = rest & -rest;
    SimdTarget target = simd_function(HWY_DISPATCH_TABLE(describe_target), bit)();
    target.name = target_name(target);
    found.push_back(std::move(target));
  }
  return found;
}

}  // namespace

const std::vector<SimdTarget>& simd_targets() {
  static const std::vector<SimdTarget> targets = find_targets();
  return targets;
}

Result<SimdTarget> choose_simd(int bits) {
  const auto& targets = simd_targets();
  if (bits == 0) return targets.front();
  std::string here;
  for (const SimdTarget& target : targets) {
    if (target.name == "no SIMD") continue;
    if (target.bits == bits) return target;
    here += (here.empty() ? "" : ", ") + std::to_string(target.bits) + " (" + target.name + ")";
  }
  return bad_input("simd=" + std::to_string(bits) + " cannot run here: this processor and build have " +
                   (here.empty() ? "no SIMD at all" : here) +
                   ". Choose one of these, or omit the option to get the best.");
}

}  // namespace driftscope
#endif  // HWY_ONCE
