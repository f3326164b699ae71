// One recorded floating tensor against its reference: distances and budgets in one pass, since moving
// the reference through the processor costs more than comparing with it. Client: verify_layer.
// It knows nothing of nodes or traces.
#pragma once

#include <cstdint>
#include <span>

#include "core/verify/bias_samples.hpp"
#include "core/verify/verify_element.hpp"

namespace driftscope {

/// The largest use of each budget, and the element with the largest.
struct TensorUse {
  BudgetUse use;
  std::int64_t worst_element = -1;  ///< the first of those that use most; −1 when there are none
  std::int64_t specials = 0;        ///< elements whose NaN or infinity is wrong
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

}  // namespace driftscope
