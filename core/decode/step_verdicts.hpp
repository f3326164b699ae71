// What the verifications of a decoder's steps say together: a map of steps and layers, and why a token
// differs from the reference's. Clients: generation_run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/verify/layer_verdict.hpp"

namespace driftscope {

/// '=' identical, '~' rounding, 'o' unjudged, '?' suspect, 'x' fault, '.' missing.
[[nodiscard]] char mark_of(Verdict verdict);

/// One character for each of `layers`, which are outputs of nodes; those that it lacks are added. Constants
/// are left out.
[[nodiscard]] std::string layer_marks(const Verification& step, std::vector<std::string>& layers);

/// Of one sequence on one target, step by step.
class FlipJudge {
 public:
  /// `carried`: a step reads what earlier ones computed (caches); otherwise each computes everything again.
  explicit FlipJudge(bool carried) : carried_(carried) {}

  void add(const Verification& step);

  /// Of the layers that count for the last added step; unjudged where one of them could not be evaluated.
  [[nodiscard]] Verdict worst() const { return worst_; }

 private:
  bool carried_;
  Verdict worst_ = Verdict::missing;
};

/// Why a target chooses another token than the reference, from the worst() of both. Where all layers of both
/// are explained by rounding, given their own inputs, they differ by rounding however far the differences
/// have grown: "rounding". "fault": a layer of one is a fault or suspect. "unjudged": one has no reference,
/// and none is worse.
[[nodiscard]] std::string_view flip_cause(Verdict reference, Verdict target);

}  // namespace driftscope
