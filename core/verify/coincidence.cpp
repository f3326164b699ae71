// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/coincidence.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numerics/rounding.hpp"

namespace driftscope {
namespace {

/// The chance of a number where the output has but few, again and again, as that of Hardmax; 0: it has more.
double chance_of_few(std::span<const Bounded> right) {
  constexpr std::size_t few = 16;
  std::vector<double> found = {0.0};
  for (const Bounded& x : right) {
    if (!std::isfinite(x.value) || std::ranges::find(found, x.value) != found.end()) continue;
    if (found.size() == few) return 0.0;
    found.push_back(x.value);
  }
  constexpr std::size_t often = 4;
  return right.size() < often * found.size() ? 0.0 : 1.0 / static_cast<double>(found.size());
}

}  // namespace

double coincidence(std::span<const Bounded> computed, std::span<const Bounded> right, const ErrorModel& model,
                   double share, const std::function<bool(std::size_t element)>& counts) {
  double low = 0.0;
  double high = 0.0;
  for (const Bounded& x : right)
    if (std::isfinite(x.value)) low = std::fmin(low, x.value), high = std::fmax(high, x.value);
  if (!(high > low) || right.size() != computed.size()) return 1.0;
  const double of_few = chance_of_few(right);
  constexpr double floor = -300.0;
  double digits = 0.0;
  for (std::size_t i = 0; i < computed.size() && digits > floor; ++i) {
    if (!counts(i) || std::isnan(computed[i].value)) continue;
    const double size = std::isfinite(right[i].value) ? right[i].value : computed[i].value;
    const double rounding = rounding_error(model, std::fmin(std::fabs(size), model.largest));
    const double bound = computed[i].worst + std::fmax(rounding, (high - low) * model.unit_roundoff);
    digits += std::log10(std::fmax(of_few, std::fmin(1.0, 2.0 * bound / (high - low)) * share));
  }
  return std::pow(10.0, std::fmax(digits, floor));
}

}  // namespace driftscope
