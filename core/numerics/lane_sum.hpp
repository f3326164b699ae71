// Sums over one lane, for each scalar, in the order that strict defines: eight interleaved partial sums
// if the elements of the lane are contiguous, else one after the other.
// Clients: Reduce*, the normalizations.
#pragma once

#include "core/numerics/math.hpp"
#include "core/numerics/mean.hpp"
#include "core/numerics/sum.hpp"

namespace driftscope {

/// Σ term(x).
template <class S, class Term>
[[nodiscard]] S sum_of(std::span<const S> lane, bool contiguous, const Term& term) {
  if constexpr (std::is_same_v<S, float>) {
    if (contiguous) {
      std::array<float, 8> partial{};
      for (std::size_t i = 0; i < lane.size(); ++i) partial[i % 8] = partial[i % 8] + term(lane[i]);
      return reduce_lanes(partial);
    }
  }
  Sum<S> sum;
  for (const S& x : lane) sum.add(term(x));
  return sum.result();
}

template <class S>
[[nodiscard]] S sum_of(std::span<const S> lane, bool contiguous) {
  return sum_of(lane, contiguous, [](const S& x) { return x; });
}

/// Σ x². The bound covers fused and unfused operations.
template <class S>
[[nodiscard]] S sum_of_squares(std::span<const S> lane, bool contiguous) {
  if constexpr (std::is_same_v<S, Bounded>) {
    Sum<Bounded> sum;
    for (const Bounded& x : lane) sum.add_product(x, x);
    return sum.result();
  } else {
    return sum_of(lane, contiguous, [](const S& x) { return x * x; });
  }
}

/// NaN for an empty lane.
template <class S>
[[nodiscard]] S mean_of(std::span<const S> lane, bool contiguous) {
  const auto count = static_cast<std::int64_t>(lane.size());
  if constexpr (std::is_same_v<S, Bounded>) {
    if (lane.empty()) return std::numeric_limits<double>::quiet_NaN();
    Mean<Bounded> mean(count);
    for (const Bounded& x : lane) mean.add(x);
    return mean.result();
  } else {
    return sum_of(lane, contiguous) / math::exact<S>(static_cast<double>(count));
  }
}

}  // namespace driftscope
