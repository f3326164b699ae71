// One recorded floating tensor against its reference: distances and budgets in one pass, since moving
// the reference through the processor costs more than comparing with it. Clients: judges, variant.
// It knows nothing of nodes or traces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/verify/bias_samples.hpp"
#include "core/verify/verify_element.hpp"

namespace driftscope {

/// The largest use of each budget, and the element with the largest. A special element uses more than any.
struct TensorUse {
  BudgetUse use;
  std::int64_t worst_element = -1;  ///< the first of those that use most; −1 when there are none
  std::int64_t specials = 0;        ///< elements whose NaN or infinity is wrong
  double finite_use = 0.0;          ///< of the worst-case budget, by all other elements
};

struct TensorVerification {
  TensorUse verified;
  Metrics metrics;      ///< as `measure` gives them against the reference rounded to got's dtype
  BiasSamples samples;  ///< of a float32 tensor, when they were asked for
};

/// `got` is a floating tensor with an element for each of the reference. The same on any number of
/// threads.
[[nodiscard]] TensorVerification verify_tensor(std::span<const Bounded> reference, const Tensor& got,
                                               const ErrorModel& model, ThreadPool& threads,
                                               bool with_samples = false);

/// The index of element number `element`.
[[nodiscard]] std::vector<std::int64_t> coordinates_of(std::int64_t element, const Shape& shape);

/// Element number `element` of a floating tensor as it is reported.
[[nodiscard]] WorstElement worst_element(std::span<const Bounded> reference, std::int64_t element,
                                         const Tensor& got);

}  // namespace driftscope
