// Detects bias: whether the errors of a tensor have a mean further from zero than rounding to nearest allows.
// Truncation instead of rounding, a constant with too few digits, a systematically short sum: each
// element may stay within its budget while the mean gives it away. Client: judges/elements.cpp.
//
// It must not raise false alarms, so it is reported only where elements are known to be independent enough:
// - an element counts by its share of the statistical budget, raw and by direction (towards zero or
//   away from it); each distinct (reference, got) pair counts once: flat image regions and repeated
//   values are not independent evidence;
// - elements of one channel share weights, elements of one column share a factor: the standard error
//   comes from the scatter of whole slices along every axis that has enough of them (cluster-robust,
//   Liang and Zeger 1986), the largest of them counts, and Student's t with that number of slices is
//   turned into the normal quantile (Wallace 1959);
// - the allowed bias is subtracted first: Bounded::systematic, a hundredth of the statistical
//   budget, and four times what a plain float32 computation of the same node on the same inputs
//   shows;
// - nothing is reported where few different numbers are multiplied (a flat image with weights of four
//   bits): there the roundings of all elements are alike, in a way that depends on the order of the sum.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/model/tensor.hpp"
#include "core/numerics/bounded.hpp"
#include "core/verify/bias_samples.hpp"

namespace driftscope {

class ThreadPool;

/// What the data say about a bias; called only if there is one.
struct BiasWitness {
  /// The same tensor computed in plain float32; nothing when that cannot be done.
  std::function<std::optional<Tensor>()> plain_float;
  /// The chance that two products of a sum are the same number, in [0, 1].
  std::function<double()> repetition;
};

/// Beyond this a bias is a fault.
inline constexpr double bias_limit = 6.0;

/// Whether a tensor of this shape has enough slices to detect bias.
[[nodiscard]] bool can_tell_bias(const Shape& shape);

/// The bias in standard errors, 0 when there is none or the tensor is too small to decide; negative towards
/// zero. `samples` are of a float32 tensor of this shape against `reference`.
[[nodiscard]] double signed_bias_z(BiasSamples samples, std::span<const Bounded> reference,
                                   const Shape& shape, const BiasWitness& witness, ThreadPool& threads);

}  // namespace driftscope
