#include "core/numerics/product.hpp"

#include <algorithm>

#include "core/numerics/bounded_parts.hpp"
#include "core/numerics/rounding.hpp"

namespace driftscope {
namespace {

using bounded_parts::infinity;

// The largest and the smallest partial product in any order of multiplication, as logarithms;
// exact zeros are skipped.
struct Range {
  double growing = 0.0;
  double shrinking = 0.0;
};

Range range_of(std::span<const Bounded> factors) {
  Range range;
  for (const Bounded& x : factors) {
    if (x.value == 0.0 && x.worst == 0.0) continue;
    const double size = std::log2(std::fabs(x.value) + x.worst);
    (size > 0.0 ? range.growing : range.shrinking) += size;
  }
  return range;
}

}  // namespace

template <>
Bounded product_of<Bounded>(std::span<const Bounded> factors) {
  if (factors.empty()) return 1.0;
  const ErrorModel& model = current_error_model();
  double value = 1.0;
  bool exact = true;
  bool zero = false;
  for (const Bounded& x : factors) {
    value *= x.value;
    exact = exact && x.worst == 0.0;
    zero = zero || (x.value == 0.0 && x.worst == 0.0);
  }
  const auto [growing, shrinking] = range_of(factors);
  const bool underflows = shrinking < std::log2(model.absolute / model.unit_roundoff) + 1.0;
  // Small factors that are multiplied first may be 0 before an infinity comes, which gives NaN.
  if (!std::isfinite(value))
    return exact && !(underflows && std::isinf(value)) ? Bounded(value) : Bounded(value, infinity, infinity);
  const bool finite = std::all_of(factors.begin(), factors.end(), [&](const Bounded& x) {
    return std::fabs(x.value) + x.worst <= model.largest;
  });
  if (!finite) return {value, infinity, infinity};
  if (factors.size() == 1) return factors[0];
  // If some order leaves the range of normal numbers, the order matters.
  const bool overflows = growing > std::log2(model.largest) - 1.0;
  if (zero) return overflows ? Bounded(value, infinity, infinity) : Bounded(value);
  if ((overflows && shrinking < 0.0) || (underflows && growing > 0.0)) return {value, infinity, infinity};
  // Each factor (1 + its own relative error), each multiplication (1 + u).
  const double roundings = static_cast<double>(factors.size() - 1) * model.unit_roundoff;
  const auto bound = [&](double Bounded::* which) {
    double outer = 1.0;
    for (const Bounded& x : factors) outer *= std::fabs(x.value) + x.*which;
    const double rounded = outer * (roundings / (1.0 - std::fmin(roundings, 0.5)));
    return (outer - std::fabs(value)) + rounded + reference_slack * outer * 2.0 +
           model.absolute * static_cast<double>(factors.size());
  };
  return {value, bound(&Bounded::worst), bound(&Bounded::likely), bound(&Bounded::systematic)};
}

}  // namespace driftscope
