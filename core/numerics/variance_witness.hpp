// The errors of a variance computed in float32 in one pass, E[x²] − mean², or by Welford's recurrence: both
// are measured on the lane itself, in the orders of summation that runtimes use. Their worst-case bounds
// are hundreds of times wider, and would pass a variance divided by n − 1. Clients: moments.cpp,
// lane_scale.cpp.
#pragma once

#include <span>
#include <vector>

#include "core/numerics/bounded.hpp"

namespace driftscope {

/// Absolute errors of the variance (divided by n); at most half of it: a runtime losing more has no correct
/// digit left where two passes lose almost none, which is a fault of its formula.
struct VarianceExcuses {
  double one_pass = 0.0;
  double welford = 0.0;
};

/// `mean` and `variance` of the lane in exact arithmetic. With a coarser unit roundoff than
/// float32's the errors grow in proportion.
[[nodiscard]] VarianceExcuses variance_excuses(std::span<const Bounded> lane, double mean, double variance);

/// Errors of float32 variances of the lane, as shares of `variance`, with their signs: in two passes,
/// by Welford's recurrence and in one pass, each in several orders of summation; always the same number and
/// order.
[[nodiscard]] std::vector<double> variance_errors(std::span<const float> lane, double variance);

}  // namespace driftscope
