#include "core/ops/support/bounded.hpp"

#include <algorithm>
#include <limits>

#include "core/base/float_bits.hpp"
#include "core/ops/support/rounding.hpp"

namespace driftscope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Which = double Bounded::*;

// An operand with a finite value that a float could not hold may already be infinite there.
Bounded as_operand(Bounded x, const ErrorModel& model) {
  if (std::fabs(x.value) + x.worst > model.largest && std::isfinite(x.value))
    return {x.value, infinity, infinity};
  return x;
}

bool surely_nan(const Bounded& x) { return std::isnan(x.value) && x.worst < infinity; }
bool surely_infinite(const Bounded& x) { return std::isinf(x.value) && x.worst < infinity; }
bool sign_is_sure(const Bounded& x) { return x.worst == 0.0 || x.worst < std::fabs(x.value); }

Bounded unknown(double value) { return {value, infinity, infinity}; }

// The same formula for each of the three bounds.
template <class Bound>
Bounded with_bounds(double value, Bound bound) {
  return {value, bound(&Bounded::worst), bound(&Bounded::likely), bound(&Bounded::systematic)};
}

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

// f at x ± its error, for a monotone f, and the accuracy that the engine's row promises.
template <class F>
Bounded monotone(const Bounded& argument, const FunctionAccuracy& accuracy, F f) {
  const ErrorModel& model = current_error_model();
  const Bounded x = as_operand(argument, model);
  const double value = f(x.value);
  if (surely_nan(x)) return value;
  if (!(x.worst < infinity)) return unknown(value);
  if (std::isinf(value)) {
    // Sure only where the whole range of the argument gives what no float can hold.
    return f(x.value - x.worst) > model.largest * 2 ? Bounded(value) : unknown(value);
  }
  const auto bound = [&](Which which) {
    const double error = x.*which;
    double inherited = 0.0;
    if (error > 0.0 && std::isfinite(x.value))
      inherited = std::fmax(f(x.value + error) - value, value - f(x.value - error));
    const double argument_size = std::isfinite(x.value) ? std::fabs(x.value) + error : 0.0;
    return inherited + function_error(model, accuracy, std::fabs(value) + inherited, argument_size);
  };
  return with_bounds(value, bound);
}

Bounded extreme(const Bounded& a, const Bounded& b, bool a_wins, bool apart) {
  if (std::isnan(a.value) || std::isnan(b.value)) {
    const bool sure = surely_nan(a) || surely_nan(b);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return sure ? Bounded(nan) : unknown(nan);
  }
  const Bounded& winner = a_wins ? a : b;
  if (apart) return winner;
  // Max and min move by no more than the larger of what their arguments move.
  return with_bounds(winner.value, [&](Which which) { return std::fmax(a.*which, b.*which); });
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
    // ∞·b is sure only where b can be neither 0 nor of the other sign.
    const bool sure = (!surely_infinite(a) || sign_is_sure(b)) &&
                      (!surely_infinite(b) || sign_is_sure(a));
    return sure ? Bounded(value) : unknown(value);
  }
  const auto bound = [&](Which which) {
    const double error_a = a.*which;
    const double error_b = b.*which;
    const double inherited =
        std::fabs(a.value) * error_b + std::fabs(b.value) * error_a + error_a * error_b;
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
  if (std::isinf(b.value)) return value;  // a/∞ = 0
  const auto bound = [&](Which which) {
    const double error_b = b.*which;
    const double inherited =
        (a.*which + std::fabs(value) * error_b) / (std::fabs(b.value) - error_b);
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
  if (std::isinf(x.value)) return value;  // √∞, or NaN for −∞
  if (x.value + x.worst < 0.0 || (x.value < 0.0 && x.worst == 0.0)) return value;  // surely NaN
  if (x.value - x.worst < 0.0) return unknown(value);  // NaN or not
  const auto bound = [&](Which which) {
    const double error = x.*which;
    const double inherited = std::fmax(std::sqrt(x.value + error) - value,
                                       value - std::sqrt(std::fmax(0.0, x.value - error)));
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

Bounded exp(Bounded x) {
  return monotone(x, current_error_model().exp, [](double t) { return std::exp(t); });
}

Bounded tanh(Bounded x) {
  return monotone(x, current_error_model().tanh, [](double t) { return std::tanh(t); });
}

Bounded sigmoid(Bounded x) {
  return monotone(x, current_error_model().sigmoid,
                  [](double t) { return 1.0 / (1.0 + std::exp(-t)); });
}

}  // namespace driftscope
