#include "core/verify/verify_element.hpp"

#include <cmath>
#include <limits>

#include "core/base/float_bits.hpp"
#include "core/numerics/rounding.hpp"

namespace driftscope {
namespace {

constexpr double beyond = std::numeric_limits<double>::infinity();

constexpr BudgetUse wrong_special{beyond, beyond, true};

double share(double error, double budget) {
  if (error == 0.0) return 0.0;
  return budget > 0.0 ? error / budget : beyond;
}

// From here on the result rounds to infinity: half a step beyond the largest number.
double overflow_threshold(const ErrorModel& model) {
  const double half_step = model.rounds_to_nearest ? power_of_two_below(model.largest) * model.ulp / 2 : 0.0;
  return model.largest + half_step;
}

BudgetUse verify_infinite(const Bounded& reference, double got, const ErrorModel& model) {
  const double threshold = overflow_threshold(model);
  const double towards = got > 0.0 ? reference.value : -reference.value;
  if (!(towards + reference.worst >= threshold)) return wrong_special;
  const double missing = std::fmax(0.0, threshold - towards);
  return {share(missing, reference.worst), share(missing, reference.likely), false};
}

}  // namespace

BudgetUse verify_element(const Bounded& reference, double got, double want_rounded, const ErrorModel& model) {
  if (!(reference.worst < beyond)) return {};
  if (!model.keeps_specials && !std::isfinite(reference.value)) return {};
  if (std::isnan(reference.value) || std::isnan(got))
    return std::isnan(reference.value) && std::isnan(got) ? BudgetUse{} : wrong_special;
  if (std::isinf(reference.value)) return got == reference.value ? BudgetUse{} : wrong_special;
  if (std::isinf(got)) return verify_infinite(reference, got, model);
  const double error = std::fabs(got - reference.value);
  BudgetUse use{share(error, reference.worst), share(error, reference.likely), false};
  // The correctly rounded result is right by definition.
  if (got == want_rounded) use = {std::fmin(use.worst, 1.0), std::fmin(use.likely, 1.0), false};
  if (reference.worst == 0.0 && got == want_rounded) use = {};
  return use;
}

bool is_within_bound(const Bounded& reference, double got, const ErrorModel& model, double times) {
  if (!(reference.worst < beyond)) return true;
  if (std::isnan(reference.value) || std::isnan(got)) return std::isnan(reference.value) && std::isnan(got);
  if (std::isinf(reference.value)) return got == reference.value;
  if (std::isinf(got)) return !verify_infinite(reference, got, model).special;
  const double rounding = rounding_error(model, std::fmin(std::fabs(reference.value), model.largest));
  return std::fabs(got - reference.value) <= times * (reference.worst + rounding);
}

}  // namespace driftscope
