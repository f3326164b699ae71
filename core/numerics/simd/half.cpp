#include "core/numerics/simd/half.hpp"

#include <algorithm>
#include <cassert>

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/simd/half.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Integer operations on the bits of float32, not the processor's conversions: those keep payloads of NaN, and
// what Highway puts in their place on others truncates.
using HalfFloat = hn::ScalableTag<float>;
using HalfWord = hn::RebindToUnsigned<HalfFloat>;
using HalfBits = hn::Rebind<std::uint16_t, HalfFloat>;
using HalfWords = hn::Vec<HalfWord>;
constexpr std::size_t half_lanes = hn::MaxLanes(HalfFloat());

HWY_INLINE HalfWords word(std::uint32_t x) { return hn::Set(HalfWord(), x); }

struct WidenFloat16 {
  HWY_INLINE HalfWords operator()(HalfWords x) const {
    const HalfWord d;
    const auto magnitude = hn::ShiftLeft<13>(hn::And(x, word(0x7fff)));
    const auto exponent = hn::And(magnitude, word(0x7c00u << 13));
    const auto normal = hn::Add(magnitude, word((127u - 15) << 23));
    // 2⁻¹⁴·(1 + fraction) − 2⁻¹⁴: exact.
    const auto one = hn::BitCast(HalfFloat(), word((127u - 14) << 23));
    const auto subnormal =
        hn::BitCast(d, hn::Sub(hn::BitCast(HalfFloat(), hn::Add(normal, word(1u << 23))), one));
    const auto sign = hn::ShiftLeft<16>(hn::And(x, word(0x8000)));
    const auto infinite = hn::Add(normal, word((128u - 16) << 23));
    auto y = hn::IfThenElse(hn::Eq(exponent, hn::Zero(d)), subnormal, normal);
    y = hn::Or(hn::IfThenElse(hn::Eq(exponent, word(0x7c00u << 13)), infinite, y), sign);
    return hn::IfThenElse(hn::Gt(magnitude, word(0x7c00u << 13)), word(0x7fc00000), y);
  }
};

struct WidenBfloat16 {
  HWY_INLINE HalfWords operator()(HalfWords x) const {
    const auto y = hn::ShiftLeft<16>(x);
    return hn::IfThenElse(hn::Gt(hn::And(y, word(0x7fffffff)), word(0x7f800000)), word(0x7fc00000), y);
  }
};

struct NarrowFloat16 {
  HWY_INLINE HalfWords operator()(HalfWords x) const {
    const HalfWord d;
    const auto magnitude = hn::And(x, word(0x7fffffff));
    // Adding ½, whose last place is 2⁻²⁴, rounds what is below 2⁻¹⁴ to units of 2⁻²⁴.
    const auto half = word(126u << 23);
    const auto subnormal = hn::Sub(
        hn::BitCast(d, hn::Add(hn::BitCast(HalfFloat(), magnitude), hn::BitCast(HalfFloat(), half))), half);
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), word(1));
    const auto rounded = hn::Add(hn::Add(magnitude, word(0xfff)), odd);
    const auto normal = hn::Sub(hn::ShiftRight<13>(rounded), word((127u - 15) << 10));
    auto y = hn::IfThenElse(hn::Lt(magnitude, word((127u - 14) << 23)), subnormal, normal);
    y = hn::IfThenElse(hn::Gt(magnitude, word(((127u + 16) << 23) - 1)), word(0x7c00), y);
    y = hn::IfThenElse(hn::Gt(magnitude, word(0x7f800000)), word(0x7e00), y);
    return hn::Or(y, hn::ShiftRight<16>(hn::And(x, word(0x80000000))));
  }
};

struct NarrowBfloat16 {
  HWY_INLINE HalfWords operator()(HalfWords x) const {
    const auto odd = hn::And(hn::ShiftRight<16>(x), word(1));
    const auto y = hn::ShiftRight<16>(hn::Add(hn::Add(x, word(0x7fff)), odd));
    const auto nan = hn::Or(hn::ShiftRight<16>(hn::And(x, word(0x80000000))), word(0x7fc0));
    return hn::IfThenElse(hn::Gt(hn::And(x, word(0x7fffffff)), word(0x7f800000)), nan, y);
  }
};

template <class Convert>
void widen_all(const std::uint16_t* from, float* to, std::size_t n) {
  const HalfBits bits;
  const HalfWord words;
  const HalfFloat floats;
  const Convert convert;
  const auto vector = [&](const std::uint16_t* x, float* y) HWY_ATTR {
    hn::StoreU(hn::BitCast(floats, convert(hn::PromoteTo(words, hn::LoadU(bits, x)))), floats, y);
  };
  std::size_t i = 0;
  for (; i + half_lanes <= n; i += half_lanes) vector(from + i, to + i);
  if (i == n) return;
  std::uint16_t rest[half_lanes] = {};
  float converted[half_lanes];
  std::copy_n(from + i, n - i, rest);
  vector(rest, converted);
  std::copy_n(converted, n - i, to + i);
}

template <class Convert>
void narrow_all(const float* from, std::uint16_t* to, std::size_t n) {
  const HalfBits bits;
  const HalfWord words;
  const HalfFloat floats;
  const Convert convert;
  const auto vector = [&](const float* x, std::uint16_t* y) HWY_ATTR {
    hn::StoreU(hn::TruncateTo(bits, convert(hn::BitCast(words, hn::LoadU(floats, x)))), bits, y);
  };
  std::size_t i = 0;
  for (; i + half_lanes <= n; i += half_lanes) vector(from + i, to + i);
  if (i == n) return;
  float rest[half_lanes] = {};
  std::uint16_t converted[half_lanes];
  std::copy_n(from + i, n - i, rest);
  vector(rest, converted);
  std::copy_n(converted, n - i, to + i);
}

void widen_halves(bool brain, const std::uint16_t* from, float* to, std::size_t n) {
  brain ? widen_all<WidenBfloat16>(from, to, n) : widen_all<WidenFloat16>(from, to, n);
}

void narrow_halves(bool brain, const float* from, std::uint16_t* to, std::size_t n) {
  brain ? narrow_all<NarrowBfloat16>(from, to, n) : narrow_all<NarrowFloat16>(from, to, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace driftscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace driftscope {

HWY_EXPORT(widen_halves);
HWY_EXPORT(narrow_halves);

void widen(SmallFloat format, std::span<const std::uint16_t> from, std::span<float> to) {
  assert(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(widen_halves)
  (format.exponent == bfloat16_format.exponent, from.data(), to.data(), from.size());
}

void narrow(SmallFloat format, std::span<const float> from, std::span<std::uint16_t> to) {
  assert(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(narrow_halves)
  (format.exponent == bfloat16_format.exponent, from.data(), to.data(), from.size());
}

}  // namespace driftscope
#endif  // HWY_ONCE
