// The functions of Bounded: the value from portable_math.hpp, the bound from the row of the error model
// and the slope of the function.
#include <algorithm>

#include "core/numerics/bounded_parts.hpp"
#include "core/numerics/portable_math.hpp"
#include "core/numerics/rounding.hpp"

namespace driftscope {
namespace {

using namespace bounded_parts;

// The interval on which a function is real.
struct Domain {
  double low = -infinity;
  double high = infinity;
};

bool promises_nothing(const FunctionAccuracy& accuracy, const Bounded& x) {
  return std::fabs(x.value) + x.worst > accuracy.reach;
}

// f at x ± its error, for a monotonic f, plus the accuracy that the row guarantees.
template <class F>
Bounded monotone(const Bounded& argument, const FunctionAccuracy& accuracy, F f, Domain domain = {}) {
  const ErrorModel& model = current_error_model();
  const Bounded x = as_operand(argument, model);
  const double value = f(x.value);
  if (surely_nan(x)) return value;
  if (!(x.worst < infinity) || promises_nothing(accuracy, x)) return unknown(value);
  // Slightly more than the error, which was rounded itself.
  const double margin = x.worst > 0.0 ? x.worst + 0x1p-50 * std::fabs(x.value) : 0.0;
  const double low = x.value - margin;
  const double high = x.value + margin;
  if (high < domain.low || low > domain.high) return value;  // certainly NaN
  if (low < domain.low || high > domain.high) return unknown(value);
  if (std::isinf(value)) {
    // Certain only if every argument in range gives a result beyond all floats.
    const double sign = value > 0.0 ? 1.0 : -1.0;
    return sign * f(low) > model.largest * 2 && sign * f(high) > model.largest * 2 ? Bounded(value)
                                                                                   : unknown(value);
  }
  const auto bound = [&](Which which) {
    const double error = x.*which;
    double inherited = 0.0;
    if (error > 0.0 && std::isfinite(x.value))
      inherited = std::fmax(std::fabs(f(x.value + error) - value), std::fabs(value - f(x.value - error)));
    const double argument_size = std::isfinite(x.value) ? std::fabs(x.value) + error : 0.0;
    return inherited + function_error(model, accuracy, std::fabs(value) + inherited, argument_size);
  };
  return with_bounds(value, bound);
}

// Combines the bound of an alternative formula with the exact value. If only the formula overflows,
// nothing is known.
Bounded derived(Bounded formula, double value) {
  if (std::isnan(formula.value) != std::isnan(value) || std::isinf(formula.value) != std::isinf(value))
    return unknown(value);
  formula.value = value;
  return formula;
}

Bounded wider(Bounded a, const Bounded& b) {
  a.worst = std::fmax(a.worst, b.worst);
  a.likely = std::fmax(a.likely, b.likely);
  a.systematic = std::fmax(a.systematic, b.systematic);
  return a;
}

// A function whose slope is at most 1 and whose values lie in [−1, 1].
template <class F>
Bounded wave(const Bounded& argument, F f) {
  const ErrorModel& model = current_error_model();
  const Bounded x = as_operand(argument, model);
  const double value = f(x.value);
  if (surely_nan(x) || surely_infinite(x)) return value;
  if (!(x.worst < infinity) || promises_nothing(model.sin, x)) return unknown(value);
  return with_bounds(value, [&](Which which) {
    const double inherited = std::fmin(x.*which, 2.0);
    return inherited +
           function_error(model, model.sin, std::fabs(value) + inherited, std::fabs(x.value) + x.*which);
  });
}

// √ of a sum that rounding may have made negative although its exact value is not.
Bounded root_of_positive(Bounded x) {
  x.worst = std::fmin(x.worst, x.value);
  x.likely = std::fmin(x.likely, x.worst);
  x.systematic = std::fmin(x.systematic, x.likely);
  return sqrt(x);
}

Bounded half(const Bounded& x) { return x * Bounded(0.5); }

bool derives() { return current_error_model().derives_functions; }

}  // namespace

Bounded exp(Bounded x) { return monotone(x, current_error_model().exp, portable::exp); }

Bounded expm1(Bounded x) { return derived(exp(x) - Bounded(1.0), portable::expm1(x.value)); }

Bounded log(Bounded x) {
  const ErrorModel& model = current_error_model();
  FunctionAccuracy accuracy = model.log;
  if (x.value - x.worst <= 2.0 && x.value + x.worst >= 0.5)
    accuracy.absolute = std::fmax(accuracy.absolute, model.log_absolute);
  return monotone(x, accuracy, portable::log, {0.0, infinity});
}

Bounded log1p(Bounded x) { return derived(log(Bounded(1.0) + x), portable::log1p(x.value)); }

Bounded softplus(Bounded x) {
  const Bounded tail = log(Bounded(1.0) + exp(-abs(x)));
  Bounded result = max(x, Bounded(0.0)) + tail;
  if (x.value > 0.0) {
    // log(1 + eˣ): errors of exp and + reach the logarithm unchanged; its own error is that at x.
    const ErrorModel& model = current_error_model();
    const double naive = (model.exp.ulp + model.exp.ulp_per_x * x.value + 1.0) * model.ulp +
                         function_error(model, model.log, result.value, 0.0) + model.log_absolute;
    if (std::isfinite(naive)) {
      result.worst += naive;
      result.likely += naive;
      result.systematic += naive;
    }
  }
  return derived(result, portable::softplus(x.value));
}

Bounded tanh(Bounded x) { return monotone(x, current_error_model().tanh, portable::tanh); }

Bounded sigmoid(Bounded x) { return monotone(x, current_error_model().sigmoid, portable::sigmoid); }

namespace {

// Near the end of the range eˣ is infinite where eˣ/2 is not, and many compute the latter from the former.
bool doubles_beyond_range(double value) {
  const double largest = current_error_model().largest;
  return std::isfinite(value) && std::fabs(value) <= largest && std::fabs(value) * 2.0 > largest;
}

}  // namespace

Bounded sinh(Bounded x) {
  if (doubles_beyond_range(portable::sinh(x.value))) return unknown(portable::sinh(x.value));
  if (derives()) return derived(half(exp(x) - exp(-x)), portable::sinh(x.value));
  return monotone(x, current_error_model().hyperbolic, portable::sinh);
}

Bounded cosh(Bounded x) {
  if (doubles_beyond_range(portable::cosh(x.value))) return unknown(portable::cosh(x.value));
  if (derives()) return derived(half(exp(x) + exp(-x)), portable::cosh(x.value));
  // Convex and even: the slope grows away from 0. An infinite result is certain only away from 0.
  if (std::isinf(portable::cosh(x.value)) && !sign_is_sure(x)) return unknown(infinity);
  const Bounded outward = {std::fabs(x.value), x.worst, x.likely, x.systematic};
  return monotone(outward, current_error_model().hyperbolic, portable::cosh);
}

Bounded asinh(Bounded x) {
  if (derives()) return derived(log(x + sqrt(x * x + Bounded(1.0))), portable::asinh(x.value));
  return monotone(x, current_error_model().hyperbolic, portable::asinh);
}

Bounded acosh(Bounded x) {
  const Bounded direct = monotone(x, current_error_model().hyperbolic, portable::acosh, {1.0, infinity});
  if (!derives() || !std::isfinite(direct.value)) return direct;
  const Bounded root = root_of_positive(x * x - Bounded(1.0));
  return derived(log(x + root), direct.value);
}

Bounded atanh(Bounded x) {
  const Bounded direct = monotone(x, current_error_model().hyperbolic, portable::atanh, {-1.0, 1.0});
  if (!derives() || !std::isfinite(direct.value)) return direct;
  const Bounded ratio = (Bounded(1.0) + x) / (Bounded(1.0) - x);
  return derived(half(log(ratio)), direct.value);
}

Bounded sin(Bounded x) { return wave(x, portable::sin); }
Bounded cos(Bounded x) { return wave(x, portable::cos); }

Bounded tan(Bounded x) {
  const double value = portable::tan(x.value);
  if (derives()) return derived(sin(x) / cos(x), value);
  // cos has slopes of at most 1: where its value exceeds the error there is no pole within the error.
  if (x.worst > 0.0 && !(std::fabs(portable::cos(x.value)) > x.worst) && !surely_nan(x))
    return unknown(value);
  return monotone(x, current_error_model().tan, portable::tan);
}

Bounded asin(Bounded x) { return monotone(x, current_error_model().asin, portable::asin, {-1.0, 1.0}); }
Bounded acos(Bounded x) { return monotone(x, current_error_model().asin, portable::acos, {-1.0, 1.0}); }
Bounded atan(Bounded x) { return monotone(x, current_error_model().atan, portable::atan); }
Bounded erf(Bounded x) { return monotone(x, current_error_model().erf, portable::erf); }
Bounded gelu_erf(Bounded x) { return monotone(x, current_error_model().gelu_erf, portable::erf); }

namespace {

// exp2(y·log2 x) for x > 0: log2 has the accuracy of log, exp2 that of exp with its argument.
Bounded power_by_logarithm(const Bounded& x, const Bounded& y) {
  constexpr double log2_e = 1.4426950408889634;
  Bounded exponent = log(x);
  exponent = y * Bounded(exponent.value * log2_e, exponent.worst * log2_e, exponent.likely * log2_e,
                         exponent.systematic * log2_e);
  return monotone(exponent, current_error_model().exp, [](double t) { return portable::pow(2.0, t); });
}

// What is guaranteed of pow for x > 0 (and of pow(0, y) for y > 0, which is 0). Whoever has whole powers of
// negative numbers right takes that of |x| and sets the sign, or multiplies, which is more exact.
Bounded derived_pow(const Bounded& x, const Bounded& y, double value) {
  if (!std::isfinite(x.value) || !std::isfinite(y.value)) return unknown(value);
  if (y.worst == 0.0 && y.value == 0.0) return value;
  const bool whole = y.worst == 0.0 && std::nearbyint(y.value) == y.value;
  const Bounded size = abs(x);
  if (x.value > x.worst || (whole && sign_is_sure(x) && x.value != 0.0)) {
    const Bounded result = power_by_logarithm(size, y);
    const bool negative = value < 0.0;
    return derived(negative ? -result : result, value);
  }
  if (!(y.value - y.worst > 0.0) || (!whole && x.value < x.worst)) return unknown(value);
  return with_bounds(value, [&](Which which) {  // from −rʸ, or 0, to rʸ
    const double reach = size.value + size.*which;
    if (reach == 0.0) return current_error_model().absolute;
    const Bounded largest = power_by_logarithm(reach, y);
    return std::fabs(value) + largest.value + largest.*which;
  });
}

}  // namespace

Bounded pow(Bounded argument, Bounded power) {
  const ErrorModel& model = current_error_model();
  const Bounded x = as_operand(argument, model);
  const Bounded y = as_operand(power, model);
  const double value = portable::pow(x.value, y.value);
  if (x.worst == 0.0 && y.worst == 0.0 && !std::isfinite(value)) return value;
  if (!(x.worst + y.worst < infinity)) return unknown(value);
  if (std::isinf(x.value) || std::isinf(y.value) || std::isnan(x.value) || std::isnan(y.value))
    return x.worst + y.worst == 0.0 ? Bounded(value) : unknown(value);
  // Only a positive integer power is smooth across 0; below 0 only an integer one is real.
  const bool whole = y.worst == 0.0 && std::nearbyint(y.value) == y.value;
  const bool positive = x.value > x.worst || (x.worst == 0.0 && x.value == 0.0);
  if (!positive && !whole) return unknown(value);
  if (!sign_is_sure(x) && y.value < 0.0) return unknown(value);
  if (!std::isfinite(value)) return unknown(value);
  const bool crosses = !sign_is_sure(x);
  const auto bound = [&](Which which) {
    double inherited = crosses && x.*which > std::fabs(x.value) ? std::fabs(value) : 0.0;
    const double dx = x.*which;
    const double dy = y.*which;
    if (dx + dy > 0.0)
      for (const double a : {x.value - dx, x.value + dx})
        for (const double b : {y.value - dy, y.value + dy})
          inherited = std::fmax(inherited, std::fabs(portable::pow(a, b) - value));
    return inherited + function_error(model, model.pow, std::fabs(value) + inherited, 0.0);
  };
  const Bounded result = with_bounds(value, bound);
  // Runtimes on GPUs also use multiplications for small integer powers.
  if (!derives()) return result;
  Bounded widest = wider(derived_pow(x, y, value), result);
  if (y.worst == 0.0 && y.value == 0.5) widest = wider(widest, sqrt(x));
  return widest;
}

}  // namespace driftscope
