// x − max − log Σ e^(x − max) of one lane, in place. Clients: LogSoftmax, SoftmaxCrossEntropyLoss.
#pragma once

#include <span>
#include <vector>

#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"

namespace driftscope {

template <class S>
[[nodiscard]] S largest_of(std::span<const S> lane) {
  S largest = lane[0];
  for (const S& x : lane) largest = math::max(largest, x);
  return largest;
}

/// Strict definition (float): the sum by reduce_sum, then (x − max) − log of it. The bound covers
/// x − (max + log Σ) as well.
template <class S>
void log_softmax(std::span<S> lane) {
  const S largest = largest_of<S>(lane);
  std::vector<S> powers(lane.begin(), lane.end());
  for (S& x : powers) x = math::exp(x - largest);
  const S log_sum = math::log(reduce_sum(std::span<const S>(powers)));
  for (S& x : lane) {
    if constexpr (std::is_same_v<S, Bounded>) {
      Sum<Bounded> sum(x);
      sum.add(-largest);
      sum.add(-log_sum);
      x = sum.result();
    } else {
      x = (x - largest) - log_sum;
    }
  }
}

}  // namespace driftscope
