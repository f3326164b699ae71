#include "core/numerics/sum.hpp"

#include <algorithm>

#include "core/numerics/bounded_parts.hpp"
#include "core/numerics/rounding.hpp"

namespace driftscope {
namespace {

using bounded_parts::infinity;
using bounded_parts::sign_is_sure;

// An implementation's error may be this many times that of the orders tried here.
constexpr double order_factor = 8.0;

// γₘ = m·u / (1 − m·u), Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1.
double gamma(std::int64_t roundings, double unit_roundoff) {
  const double product = static_cast<double>(roundings) * unit_roundoff;
  return product < 1.0 ? product / (1.0 - product) : infinity;
}

}  // namespace

void Sum<Bounded>::add_special(Bounded x) {
  uncertain_ = uncertain_ || !(x.worst < infinity);
  value_ += x.value;
}

void Sum<Bounded>::add_special_product(Bounded a, Bounded b) {
  const bool sure = a.worst < infinity && b.worst < infinity && (!std::isinf(a.value) || sign_is_sure(b)) &&
                    (!std::isinf(b.value) || sign_is_sure(a));
  uncertain_ = uncertain_ || !sure;
  value_ += a.value * b.value;
}

void Sum<Bounded>::note_range(const Bounded& a, const Bounded& b) {
  const ErrorModel& model = current_error_model();
  (void)bounded_parts::as_operand(a, model);
  (void)bounded_parts::as_operand(b, model);
}

// Higham and Mary 2019, theorem 3.1, and at least what sums of these very terms actually lose.
double Sum<Bounded>::likely_rounding(const ErrorModel& model, double scale, std::int64_t roundings) const {
  const double independent =
      model.lambda(terms_) * std::sqrt(static_cast<double>(roundings)) * model.unit_roundoff * scale;
  if (!traced_ || model.unit_roundoff != unit_roundoff_f32) return independent;
  double seen = std::fabs(static_cast<double>(sequential_) - value_);
  if (products_ == 0) {
    const float eight = reduce_lanes(lanes_);
    seen = std::fmax(seen, std::fabs(static_cast<double>(eight) - value_));
  }
  return std::fmax(independent, order_factor * seen);
}

Bounded Sum<Bounded>::result() const {
  const ErrorModel& model = current_error_model();
  if (!std::isfinite(value_)) {
    // The finite terms alone may leave the range towards the other side: then NaN is right as well.
    if (std::isfinite(magnitude_) && magnitude_ > model.largest) model.note_overflow(Overflow::possible);
    if (!uncertain_ && inherited_worst_ < infinity) return value_;
    return {value_, infinity, infinity};
  }
  if (!(inherited_worst_ < infinity)) return {value_, infinity, infinity};
  const double scale = magnitude_ + inherited_worst_;
  // Partial sums that leave the range: the result is certain only if all terms have the same sign.
  if (scale > model.largest && magnitude_ - std::fabs(value_) > 0x1p-40 * magnitude_)
    model.note_overflow(Overflow::possible);
  const std::int64_t additions = std::max<std::int64_t>(terms_ - 1, 0);
  if (additions + products_ + further_ == 0)
    return {value_, inherited_worst_, inherited_likely_, inherited_systematic_};
  // One more rounding than the terms already had.
  const auto once = [&](double inherited) {
    return inherited + rounding_error(model, std::fabs(value_) + inherited);
  };
  // A product alone, or one addition: one operation.
  if (model.rounds_to_nearest && further_ == 0 && terms_ <= (products_ == 0 ? 2 : 1))
    return {value_, once(inherited_worst_), once(inherited_likely_), once(inherited_systematic_)};
  const std::int64_t roundings = additions + (products_ > 0 ? 1 : 0) + further_;
  const double tiny = model.absolute * static_cast<double>(terms_ + products_);
  const double extra = tiny + reference_slack * scale;
  const double worst = gamma(roundings, model.unit_roundoff) * scale + extra;
  const double likely = std::fmin(worst, likely_rounding(model, scale, roundings) + extra);
  // Products with many different factors have independent roundings; for terms without
  // factors the errors can be the same for every element, as on an image with a background of one value.
  const double systematic = products_ == 0 ? inherited_systematic_ + likely : once(inherited_systematic_);
  return {value_, inherited_worst_ + worst, inherited_likely_ + likely, systematic};
}

Bounded ExactSumBounds::in_general(const Bounded& start, double value, double magnitude,
                                   std::int64_t count) const {
  Sum<Bounded> sum(start);
  for (std::int64_t i = 0; i < further_; ++i) sum.round_once_more();
  sum.add_exact_products(value, magnitude, count);
  return sum.result();
}

void ExactSumBounds::prepare(std::int64_t terms, std::int64_t count) {
  terms_ = terms;
  products_ = count;
  const std::int64_t roundings = terms + further_;
  gamma_ = gamma(roundings, model_.unit_roundoff);
  likely_ = model_.lambda(terms) * std::sqrt(static_cast<double>(roundings)) * model_.unit_roundoff;
  tiny_ = model_.absolute * static_cast<double>(terms + count);
}

}  // namespace driftscope
