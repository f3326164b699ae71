// Shared by the operations and the functions of Bounded. Clients: bounded*.cpp, sum.cpp, product.cpp.
#pragma once

#include <cmath>
#include <limits>

#include "core/numerics/bounded.hpp"

namespace driftscope::bounded_parts {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

using Which = double Bounded::*;

[[nodiscard]] inline bool leaves_range(const Bounded& x, const ErrorModel& model) {
  return std::fabs(x.value) + x.worst > model.largest && std::isfinite(x.value);
}

// An operand with a finite value that exceeds the float range may already be infinite there: that is noted,
// and the bounds are those of an implementation that keeps it finite.
[[nodiscard]] inline const Bounded& as_operand(const Bounded& x, const ErrorModel& model) {
  if (leaves_range(x, model) && x.worst < infinity)
    model.note_overflow(std::fabs(x.value) > model.widest ? Overflow::certain : Overflow::possible);
  return x;
}
const Bounded& as_operand(const Bounded&& gone, const ErrorModel& model) = delete;

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
