// Judges a group (nodes between recorded values) whose bound, carried through all of it, is too wide to be
// conclusive: intervals ignore that errors cancel, and grow with every node. Client: judges/elements.cpp.
//
// The group is run nine times in plain float32: once as it is, eight times with every recorded input and
// weight moved by one unit in the last place, up, down or not at all, and every result inside by what
// rounding may do to it (rounding_noise.hpp), so that all roundings differ. The distance of these runs from
// the exact result estimates the effect of rounding. Errors are sums of very many small ones, hence about
// normal with some unknown deviation and correlation; then the chance that one element's error exceeds c
// times the largest of n others is at most E|N|ⁿ·(0.8/c)ⁿ, which is 10⁻¹¹ for n = 9 and c = 32, whatever the
// deviation.
//   - within 32 × the largest of the nine at every element, if that distinguishes right from wrong
//     (judgeable.hpp): rounding
//   - beyond 1,024 × the largest of the nine there and of their RMS over the tensor, which allows another
//     algorithm errors 32 times as large: fault, if all of the group is continuous
//   - else by the bound: suspect beyond its statistical part, and unjudged where it is blind; then the
//     findings name a value that should be recorded as well.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/verify/judgeable.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// What is known of the group before a recorded output.
struct GroupWitness {
  /// The output in plain float32; with a seed other than 0 from perturbed inputs. Nothing when that cannot be
  /// done.
  std::function<std::optional<Tensor>(std::uint64_t seed)> run;
  /// No node of the group is discontinuous (rounds, compares, chooses): small errors stay small.
  bool continuous = true;
  /// The value of the group that should be recorded as well; empty: none.
  std::string suggestion;
  /// Why a bound is infinite, in words; empty: none is, or not known.
  std::string unbounded = {};
};

/// Sets the verdict of `layer`, whose floating output `got` is within the worst case of `reference`. `blind`
/// says why its bound is inconclusive; otherwise the errors exceed its statistical part. `model` is that of
/// got's dtype.
void judge_by_runs(LayerVerdict& layer, std::span<const Bounded> reference, const Tensor& got,
                   const ErrorModel& model, Blindness blind, const GroupWitness& group, ThreadPool& threads);

/// Why a layer is unjudged; nothing where its budget can tell.
[[nodiscard]] std::vector<Finding> inconclusive(Blindness blind, const std::string& suggestion,
                                                const std::string& unbounded);

}  // namespace driftscope
