// How far a variance strays that float32 takes in one pass, E[x²] − mean², or by Welford's recurrence: both
// are computed on the lane itself, in the orders of summation that runtimes use. Their worst-case bounds
// are hundreds of times wider, and would pass a variance divided by n − 1. Clients: moments.cpp,
// lane_scale.cpp.
#pragma once

#include <span>
#include <vector>

#include "core/numerics/bounded.hpp"

namespace driftscope {

/// Absolute, of the variance (divided by n); at most half of it: a runtime that loses more has no correct
/// digit left where two passes lose none that count, which is a fault of its formula.
struct VarianceExcuses {
  double one_pass = 0.0;
  double welford = 0.0;
};

/// `mean` and `variance` of the lane as exact arithmetic gives them. With a coarser unit roundoff than
/// float32's errors grow in proportion.
[[nodiscard]] VarianceExcuses variance_excuses(std::span<const Bounded> lane, double mean, double variance);

/// What float32 variances of the lane are off by, as shares of `variance`, with their signs: in two passes,
/// by Welford's recurrence and in one pass, each in several orders of summation; always as many, in the same
/// order.
[[nodiscard]] std::vector<double> variance_errors(std::span<const float> lane, double variance);

}  // namespace driftscope
