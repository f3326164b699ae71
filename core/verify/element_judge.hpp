// Is each element of a recorded tensor within the budget of its reference value?
// Client: verify. It knows nothing of nodes or traces.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/ops/support/bounded.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// What one element uses of its two budgets; infinite beyond a budget of 0 and for a wrong NaN or
/// infinity.
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
[[nodiscard]] BudgetUse judge_element(const Bounded& reference, double got, double want_rounded,
                                      const ErrorModel& model);

/// The whole tensor: the largest use of each budget, and the element with the largest.
struct TensorUse {
  BudgetUse use;
  std::int64_t worst_element = -1;  ///< the first of those that use most; −1 when there are none
  std::int64_t specials = 0;        ///< elements whose NaN or infinity is wrong
};

/// `got` and `want` (the reference rounded) are floating tensors of one dtype and shape.
[[nodiscard]] TensorUse judge_tensor(std::span<const Bounded> reference, const Tensor& got,
                                     const Tensor& want, const ErrorModel& model,
                                     ThreadPool& threads);

}  // namespace driftscope
