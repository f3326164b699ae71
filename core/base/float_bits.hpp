// Bits of binary32 and binary64: distances in ULP and the spacing of floats.
// Used by the error budgets, the metrics and the tests; no rounding happens here.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace driftscope {

/// Unit roundoff of binary32: half the distance from 1 to the next float.
inline constexpr double unit_roundoff_f32 = 0x1p-24;

/// Half the smallest subnormal of binary32: the largest absolute error of one rounding near 0.
inline constexpr double half_min_subnormal_f32 = 0x1p-150;

/// Maps a float to an integer whose order is that of the reals; +0 and −0 both map to 0.
[[nodiscard]] constexpr std::int64_t ordered_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffffffu);
  return (bits >> 31) != 0 ? -magnitude : magnitude;
}

[[nodiscard]] constexpr std::int64_t ordered_bits(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffffffffffffffull);
  return (bits >> 63) != 0 ? -magnitude : magnitude;
}

/// How many floats lie between a and b (0 when equal; +0 and −0 are 0 apart). Infinity is one step
/// beyond the largest float. The caller handles NaN itself.
[[nodiscard]] constexpr std::int64_t ulp_distance(float a, float b) {
  const std::int64_t difference = ordered_bits(a) - ordered_bits(b);
  return difference < 0 ? -difference : difference;
}

/// Equal as results: the same bits, or both NaN (the payload of a NaN carries no meaning).
[[nodiscard]] constexpr bool same_result(float a, float b) {
  const auto x = std::bit_cast<std::uint32_t>(a);
  const auto y = std::bit_cast<std::uint32_t>(b);
  if (x == y) return true;
  return (x & 0x7fffffffu) > 0x7f800000u && (y & 0x7fffffffu) > 0x7f800000u;
}

/// 2^floor(log2 |x|) for a finite normal double, 0 for zero and subnormals.
[[nodiscard]] constexpr double power_of_two_below(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000ull);
}

/// Half the spacing of binary32 at x: the largest error of rounding a real in x's binade to nearest.
[[nodiscard]] constexpr double half_ulp_f32(double x) {
  const double half = power_of_two_below(x) * unit_roundoff_f32;
  return half > half_min_subnormal_f32 ? half : half_min_subnormal_f32;
}

}  // namespace driftscope
