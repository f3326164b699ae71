// The possible error of one operation in an error model, as absolute errors.
// Clients: Bounded, Sum<Bounded>. Nothing here knows where the operands come from.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/float_bits.hpp"
#include "core/numerics/error_model.hpp"

namespace driftscope {

/// The reference's own rounding in double, relative; added to every budget, so
/// that a correctly rounded result never counts as an error.
inline constexpr double reference_slack = 0x1p-51;

/// `ulps` units in the last place of the stored format at a number of this size.
[[nodiscard]] inline double ulps_at(const ErrorModel& model, double size, double ulps) {
  return ulps * model.ulp * power_of_two_below(size);
}

/// One + − × whose exact result is at most `size`; 0 when it is exactly 0.
[[nodiscard]] inline double rounding_error(const ErrorModel& model, double size) {
  if (size == 0.0) return 0.0;
  const double relative = model.rounds_to_nearest ? power_of_two_below(size) : size;
  // No fmax: it is a function call, and this runs for every element.
  return std::max(relative * model.unit_roundoff, model.absolute) + reference_slack * size;
}

[[nodiscard]] inline double division_error(const ErrorModel& model, double size) {
  if (model.rounds_to_nearest && model.division_ulp <= 0.5) return rounding_error(model, size);
  if (size == 0.0) return 0.0;
  return std::max(ulps_at(model, size, model.division_ulp), model.absolute) + reference_slack * size;
}

[[nodiscard]] inline double sqrt_error(const ErrorModel& model, double size) {
  if (model.rounds_to_nearest && model.sqrt_ulp <= 0.5) return rounding_error(model, size);
  if (size == 0.0) return 0.0;
  return std::max(ulps_at(model, size, model.sqrt_ulp), model.absolute) + reference_slack * size;
}

/// A function with this accuracy, its result at most `size`, its argument at most `argument`.
[[nodiscard]] inline double function_error(const ErrorModel& model, const FunctionAccuracy& accuracy,
                                           double size, double argument) {
  return ulps_at(model, size, accuracy.ulp + accuracy.ulp_per_x * argument) + accuracy.absolute +
         reference_slack * size;
}

}  // namespace driftscope
