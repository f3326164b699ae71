// What the operations and the functions of Bounded share. Clients: bounded*.cpp, sum.cpp, product.cpp.
#pragma once

#include <cmath>
#include <limits>

#include "core/numerics/bounded.hpp"

namespace driftscope::bounded_parts {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

using Which = double Bounded::*;

// An operand with a finite value that a float could not hold may already be infinite there.
[[nodiscard]] inline Bounded as_operand(Bounded x, const ErrorModel& model) {
  if (std::fabs(x.value) + x.worst > model.largest && std::isfinite(x.value))
    return {x.value, infinity, infinity};
  return x;
}

[[nodiscard]] inline bool surely_nan(const Bounded& x) { return std::isnan(x.value) && x.worst < infinity; }
[[nodiscard]] inline bool surely_infinite(const Bounded& x) {
  return std::isinf(x.value) && x.worst < infinity;
}
[[nodiscard]] inline bool sign_is_sure(const Bounded& x) {
  return x.worst == 0.0 || x.worst < std::fabs(x.value);
}

[[nodiscard]] inline Bounded unknown(double value) { return {value, infinity, infinity}; }

// The same formula for each of the three bounds.
template <class Bound>
[[nodiscard]] Bounded with_bounds(double value, Bound bound) {
  return {value, bound(&Bounded::worst), bound(&Bounded::likely), bound(&Bounded::systematic)};
}

}  // namespace driftscope::bounded_parts
