// Whether a series of figures still changes: warm-up that goes on, memory that leaks.
// Client: bench_run.
#pragma once

#include <cstddef>
#include <span>

#include "core/statistics/statistics.hpp"

namespace driftscope {

/// How many slices are considered to decide whether warm-up has ended.
inline constexpr std::size_t steady_window = 8;

/// Whether the last `steady_window` values no longer drift: the medians of the window's halves are
/// no further apart than values of the window are from its median (its MAD), or than 0.5 %.
[[nodiscard]] bool is_steady(std::span<const double> slice_medians);

/// Change of y per unit of x, x ascending without equals: the median of the slopes of all pairs, with
/// Kendall's interval (Theil 1950, Sen 1968). Nothing below two points.
[[nodiscard]] std::optional<Estimate> slope(std::span<const double> x, std::span<const double> y,
                                            double confidence);

}  // namespace driftscope
