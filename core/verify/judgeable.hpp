// Whether a budget can distinguish a right tensor from a wrong one. Where it cannot, a layer within its
// budget is unjudged. Clients: judges, derivation (which value of a group to suggest for recording). It
// knows nothing of the recorded tensor: the reference and its bounds alone decide.
//
// The rule. A tensor g passes if |gᵢ − rᵢ| ≤ bᵢ everywhere. If any constant passes, such as 0, it
// hides all of the reference's spread: min(bᵢ, |rᵢ − mean|) summed as squares. So the budget is blind
//   1. where Σ min(bᵢ, |rᵢ − mean|)² is a quarter of Σ (rᵢ − mean)² or more, which it is when the budget
//      is as large as half of the spread; for a constant tensor its value takes the
//      place of the spread,
//   2. where any constant, or the reference rolled by one element, passes as a whole,
//   3. for a group: where the reference scaled by 1.01 passes as a whole.
// An element whose budget is within the format's resolution (eight units in its last place, or the error of
// flushing subnormals) hides nothing: no implementation is more exact, as in a saturated Sigmoid.
#pragma once

#include <span>

#include "core/model/tensor.hpp"
#include "core/numerics/bounded.hpp"

namespace driftscope {

class ThreadPool;

/// Why a budget is inconclusive.
enum class Blindness { none, infinite, wider_than_spread, scaled };

/// The error that a correct implementation may have at a value of this size, however exact its sums: 8 units
/// in the last place (a function's four and the roundings around it) and the error of flushing subnormals.
[[nodiscard]] double format_resolution(double value, double ulp);

struct JudgeableRule {
  /// ULP of the stored format at 1; 0 for integers.
  double ulp = 0x1p-23;
  /// Rule 3 applies.
  bool group = false;
};

/// From the statistical bounds of `reference`, ignoring elements that are not finite. The same on any
/// number of threads.
[[nodiscard]] Blindness blindness(std::span<const Bounded> reference, const JudgeableRule& rule,
                                  ThreadPool& threads);

/// The same of integers, whose values are in `values` and whose bounds are those of `bounds`.
[[nodiscard]] Blindness blindness_of_integers(std::span<const Bounded> bounds, const Tensor& values,
                                              const JudgeableRule& rule, ThreadPool& threads);

/// "its budget is infinite" and the like; empty for none.
[[nodiscard]] const char* blindness_text(Blindness blindness);

}  // namespace driftscope
