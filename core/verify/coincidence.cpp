// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/coincidence.hpp"

#include <cmath>

#include "core/numerics/rounding.hpp"

namespace driftscope {

double coincidence(std::span<const Bounded> computed, std::span<const Bounded> right, const ErrorModel& model,
                   double share, const std::function<bool(std::size_t element)>& counts) {
  double low = 0.0;
  double high = 0.0;
  for (const Bounded& x : right)
    if (std::isfinite(x.value)) low = std::fmin(low, x.value), high = std::fmax(high, x.value);
  if (!(high > low) || right.size() != computed.size()) return 1.0;
  constexpr double floor = -300.0;
  double digits = 0.0;
  for (std::size_t i = 0; i < computed.size() && digits > floor; ++i) {
    if (!counts(i)) continue;
    const double size = std::isfinite(right[i].value) ? right[i].value : computed[i].value;
    const double rounding = rounding_error(model, std::fmin(std::fabs(size), model.largest));
    const double bound = computed[i].worst + std::fmax(rounding, (high - low) * model.unit_roundoff);
    digits += std::log10(std::fmin(1.0, 2.0 * bound / (high - low))) + std::log10(share);
  }
  return std::pow(10.0, std::fmax(digits, floor));
}

}  // namespace driftscope
