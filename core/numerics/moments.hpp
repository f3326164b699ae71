// Mean and variance of a lane, and their use in normalizations, for each scalar.
// Clients: LayerNormalization, GroupNormalization, InstanceNormalization, MeanVarianceNormalization.
//
// Strict definition (float): two passes, Σx / n and Σ(x − mean)² / n, sums as in lane_sum.hpp; then
// ((x − mean)·(1/√(variance + ε)))·scale + bias.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/numerics/lane_sum.hpp"

namespace driftscope {

template <class S>
struct Moments {
  S mean;
  S variance;  ///< of the lane itself: divided by n
};

/// Which methods for the variance the bound covers in addition to two passes and Welford's recurrence. One
/// pass, E[x²] − mean², loses more digits the larger the mean is than the deviation; it is excused its loss
/// on the lane itself (variance_witness.hpp).
enum class Passes { two, one_or_two };

template <class S>
[[nodiscard]] Moments<S> moments_of(std::span<const S> lane, bool contiguous, Passes) {
  const S mean = mean_of(lane, contiguous);
  const S squares = sum_of(lane, contiguous, [&](const S& x) {
    const S deviation = x - mean;
    return deviation * deviation;
  });
  return {mean, squares / math::exact<S>(static_cast<double>(lane.size()))};
}
template <>
[[nodiscard]] Moments<Bounded> moments_of<Bounded>(std::span<const Bounded> lane, bool contiguous,
                                                   Passes passes);

/// 1 / √(variance + ε)
template <class S>
[[nodiscard]] S inverse_deviation(S variance, S epsilon) {
  return S(1) / math::sqrt(variance + epsilon);
}

/// x ↦ (x − mean)·inverse·scale + bias.
template <class S>
struct Standardize {
  S mean;
  S inverse;

  [[nodiscard]] S operator()(S x) const { return (x - mean) * inverse; }
  [[nodiscard]] S operator()(S x, S scale, S bias) const { return ((x - mean) * inverse) * scale + bias; }
};

/// The bound also covers a·x + (bias − a·mean) with a = inverse·scale, in any order, fused or not. The
/// error of `a` is the same factor of x and of the mean.
template <>
struct Standardize<Bounded> {
  Bounded mean;
  Bounded inverse;

  [[nodiscard]] Bounded operator()(Bounded x) const { return (*this)(x, 1.0, 0.0); }
  [[nodiscard]] Bounded operator()(Bounded x, Bounded scale, Bounded bias) const {
    const Bounded a = inverse * scale;
    Sum<Bounded> sum(bias);
    sum.add_product(x, a.value);
    sum.add_product(-mean, a.value);
    sum.round_once_more();
    sum.round_once_more();
    Bounded result = sum.result();
    const double deviation = std::fabs(x.value - mean.value);
    const auto add = [&](double Bounded::* which) {
      const double error = (deviation + x.*which + mean.*which) * (a.*which);
      result.*which += std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    };
    add(&Bounded::worst);
    add(&Bounded::likely);
    add(&Bounded::systematic);
    return result;
  }
};

}  // namespace driftscope
