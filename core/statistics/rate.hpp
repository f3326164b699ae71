// Intervals of a rate: k of n were right. Sources: Wilson 1927; Clopper and Pearson 1934; Brown, Cai and
// DasGupta 2001, "Interval estimation for a binomial proportion", who recommend Wilson's.
#pragma once

#include <cstdint>

#include "core/statistics/statistics.hpp"

namespace driftscope {

/// Below so many samples a rate is shown, but nothing is concluded from it: its interval is ±10 %.
inline constexpr std::int64_t enough_for_a_rate = 100;

/// 0 ≤ k ≤ n, n ≥ 1. Covers the true rate with about the confidence.
[[nodiscard]] Interval wilson_interval(std::int64_t k, std::int64_t n, double confidence = 0.95);

/// Covers it with at least the confidence, and is wider.
[[nodiscard]] Interval clopper_pearson_interval(std::int64_t k, std::int64_t n, double confidence = 0.95);

}  // namespace driftscope
