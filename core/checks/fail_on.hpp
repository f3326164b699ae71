// What makes a comparison fail: the conditions of `--fail-on`. Clients: checks, the command line.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/base/result.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// Only listed conditions count. A target that could not run always fails.
struct FailOn {
  bool fault = false;                           ///< a layer that no rounding explains
  bool suspect = false;                         ///< a layer that chance does not explain; includes faults
  bool unjudged = false;                        ///< a layer whose budget is inconclusive; includes both
  bool top1 = false;                            ///< another best class
  bool bits = false;                            ///< any differing bit
  bool unrepeatable = false;                    ///< a later run has other bits
  bool nonfinite = false;                       ///< an output of the model holds NaN or infinity
  bool overflow = false;                        ///< a layer makes NaN or infinity of finite numbers
  bool growing = false;                         ///< memory grows from run to run
  std::optional<double> slower = std::nullopt;  ///< share: 0.2 is "a fifth longer"

  [[nodiscard]] bool counts_suspects() const { return suspect || unjudged; }
  [[nodiscard]] bool counts_faults() const { return fault || counts_suspects(); }
  /// Whether a layer with this verdict makes the comparison fail.
  [[nodiscard]] bool counts(Verdict verdict) const;
};

/// Conditions of one or more texts, each "fault", "suspect", "unjudged", "nonfinite", "overflow", "top1",
/// "bits", "unrepeatable", "growing" or "slower:20%", separated by commas or bars. Errors: an unknown one, a
/// share that is not a percentage from 0 to 10000, none at all.
[[nodiscard]] Result<FailOn> parse_fail_on(std::span<const std::string> texts);

/// "fault,top1,slower:20%".
[[nodiscard]] std::string fail_on_text(const FailOn& conditions);

}  // namespace driftscope
