// Is an element of a recorded tensor within the budget of its reference value?
// Client: verify_tensor. It knows nothing of tensors.
#pragma once

#include "core/numerics/bounded.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// The share of each of its two budgets that an element uses; infinite beyond a budget of 0 and for a wrong
/// NaN or infinity.
struct BudgetUse {
  double worst = 0.0;
  double likely = 0.0;
  bool special = false;  ///< NaN or infinity on one side only
};

/// `got` against the reference, both of a format whose range is model.largest.
/// - Where the reference's bound is infinite (an intermediate result may overflow, a divisor may be 0)
///   everything is allowed.
/// - NaN and infinity must agree, unless the engine promises nothing about them; an infinity is also
///   right where value ± worst reaches what rounds to infinity.
/// - Zeros of either sign are equal.
[[nodiscard]] BudgetUse verify_element(const Bounded& reference, double got, double want_rounded,
                                       const ErrorModel& model);

/// The same without a rounded reference: within `times` the bound and one more rounding.
[[nodiscard]] bool is_within_bound(const Bounded& reference, double got, const ErrorModel& model,
                                   double times = 1.0);

}  // namespace driftscope
