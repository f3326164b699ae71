#include "core/numerics/bounded.hpp"

#include <algorithm>

#include "core/numerics/bounded_parts.hpp"
#include "core/numerics/rounding.hpp"

namespace driftscope {
namespace {

using namespace bounded_parts;

// The result of + or − where a value or an error is not finite.
Bounded special_sum(double value, const Bounded& a, const Bounded& b) {
  if (surely_nan(a) || surely_nan(b)) return value;
  return a.worst < infinity && b.worst < infinity ? Bounded(value) : unknown(value);
}

Bounded add(double value, const Bounded& x, const Bounded& y) {
  const ErrorModel& model = current_error_model();
  const Bounded a = as_operand(x, model);
  const Bounded b = as_operand(y, model);
  if (!std::isfinite(value) || !(a.worst + b.worst < infinity)) return special_sum(value, a, b);
  const auto bound = [&](Which which) {
    const double inherited = a.*which + b.*which;
    return inherited + rounding_error(model, std::fabs(value) + inherited);
  };
  return with_bounds(value, bound);
}

// How far the larger of two may be from the smaller where an engine takes both for 0: it returns either.
double taken_for_equal(const Bounded& a, const Bounded& b) {
  constexpr double min_normal = 0x1p-126;
  if (!(std::fmax(std::fabs(a.value), std::fabs(b.value)) < min_normal) || a.value == b.value) return 0.0;
  return current_error_model().flushes_subnormals ? std::fabs(a.value - b.value) : 0.0;
}

Bounded extreme(const Bounded& a, const Bounded& b, bool a_wins, bool apart) {
  if (std::isnan(a.value) || std::isnan(b.value)) {
    const bool sure = surely_nan(a) || surely_nan(b);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return sure ? Bounded(nan) : unknown(nan);
  }
  const Bounded& winner = a_wins ? a : b;
  const double either = taken_for_equal(a, b);
  if (apart && either == 0.0) return winner;
  // The error of max and min is at most the larger one of their arguments.
  return with_bounds(winner.value,
                     [&](Which which) { return std::fmax(std::fmax(a.*which, b.*which), either); });
}

}  // namespace

Bounded operator+(Bounded a, Bounded b) { return add(a.value + b.value, a, b); }
Bounded operator-(Bounded a, Bounded b) { return add(a.value - b.value, a, b); }

Bounded operator*(Bounded x, Bounded y) {
  const ErrorModel& model = current_error_model();
  const Bounded a = as_operand(x, model);
  const Bounded b = as_operand(y, model);
  const double value = a.value * b.value;
  if (surely_nan(a) || surely_nan(b)) return value;
  if (!(a.worst + b.worst < infinity)) return unknown(value);
  if (!std::isfinite(value)) {
    // The result of ∞·b is certain only if b can be neither 0 nor of the other sign.
    const bool sure = (!surely_infinite(a) || sign_is_sure(b)) && (!surely_infinite(b) || sign_is_sure(a));
    return sure ? Bounded(value) : unknown(value);
  }
  const auto bound = [&](Which which) {
    const double error_a = a.*which;
    const double error_b = b.*which;
    const double inherited = std::fabs(a.value) * error_b + std::fabs(b.value) * error_a + error_a * error_b;
    return inherited + rounding_error(model, std::fabs(value) + inherited);
  };
  return with_bounds(value, bound);
}

Bounded operator/(Bounded x, Bounded y) {
  const ErrorModel& model = current_error_model();
  const Bounded a = as_operand(x, model);
  const Bounded b = as_operand(y, model);
  const double value = a.value / b.value;
  if (surely_nan(a) || surely_nan(b)) return value;
  if (!(a.worst + b.worst < infinity) || !sign_is_sure(b)) return unknown(value);
  if (!std::isfinite(value))  // 0/0, x/0, ∞/∞, ∞/b
    return sign_is_sure(a) ? Bounded(value) : unknown(value);
  if (std::isinf(b.value)) return value;        // a/∞ = 0
  const bool to_zero = leaves_range(b, model);  // a divisor that overflowed
  const auto bound = [&](Which which) {
    const double error_b = b.*which;
    double inherited = (a.*which + std::fabs(value) * error_b) / (std::fabs(b.value) - error_b);
    if (to_zero) inherited = std::fmax(inherited, std::fabs(value));
    return inherited + division_error(model, std::fabs(value) + inherited);
  };
  return with_bounds(value, bound);
}

Bounded sqrt(Bounded argument) {
  const ErrorModel& model = current_error_model();
  const Bounded x = as_operand(argument, model);
  const double value = std::sqrt(x.value);
  if (surely_nan(x)) return value;
  if (!(x.worst < infinity)) return unknown(value);
  if (std::isinf(x.value)) return value;                                           // √∞, or NaN for −∞
  if (x.value + x.worst < 0.0 || (x.value < 0.0 && x.worst == 0.0)) return value;  // certainly NaN
  if (x.value - x.worst < 0.0) return unknown(value);                              // may be NaN
  const auto bound = [&](Which which) {
    const double error = x.*which;
    const double inherited =
        std::fmax(std::sqrt(x.value + error) - value, value - std::sqrt(std::fmax(0.0, x.value - error)));
    return inherited + sqrt_error(model, value + inherited);
  };
  return with_bounds(value, bound);
}

Bounded operator-(Bounded x) { return {-x.value, x.worst, x.likely, x.systematic}; }
Bounded abs(Bounded x) { return {std::fabs(x.value), x.worst, x.likely, x.systematic}; }

Bounded max(Bounded a, Bounded b) {
  const bool a_wins = a.value >= b.value;
  const Bounded& high = a_wins ? a : b;
  const Bounded& low = a_wins ? b : a;
  return extreme(a, b, a_wins, high.value - high.worst >= low.value + low.worst);
}

Bounded min(Bounded a, Bounded b) {
  const bool a_wins = a.value <= b.value;
  const Bounded& low = a_wins ? a : b;
  const Bounded& high = a_wins ? b : a;
  return extreme(a, b, a_wins, low.value + low.worst <= high.value - high.worst);
}

}  // namespace driftscope
