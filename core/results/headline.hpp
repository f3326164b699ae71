// One sentence about a comparison, the same in the terminal, the report, the window and JUnit.
// Clients: comparison_view, gui/snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/results/run_times.hpp"
#include "core/verify/answer.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// What the sentence needs to know of one target.
struct TargetOutcome {
  std::string target;
  bool failed = false;
  bool compared = false;               ///< with the left target
  bool differs = false;                ///< in some bit of some layer
  Verdict verdict = Verdict::missing;  ///< the worst of its layers
  std::string first_fault;             ///< a node; empty: none
  std::string first_suspect;           ///< a node; empty: none
  std::string nonfinite;               ///< as nonfinite_text says it; empty: the outputs are finite
  std::string matters;                 ///< as causal_headline says it; empty: not asked for
  std::string hidden_overflow;         ///< as of overflow.hpp; empty: none
  std::string unrepeatable;            ///< the node where runs of this target first differ; empty: nowhere
  std::int64_t unjudged = 0;           ///< layers
  bool unverified = false;             ///< some layer differs on which there is no verdict
  std::optional<bool>
      same_answer;               ///< as on the left target; nothing where the output is no class (answer.hpp)
  OutputAgreement answers = {};  ///< how many answers there are, and how many differ
  std::int64_t samples = 0;      ///< of a data set
  std::int64_t same_samples = -1;  ///< how many are predicted as on the left; −1: not known
  RunTime time;                    ///< of the whole model
};

/// The left target first: "6 targets agree with pc/strict within rounding, same answer; slowest chrome/ort,
/// 6 × pc/strict". Faults, suspects, other answers and failures come before.
[[nodiscard]] std::string comparison_headline(std::span<const TargetOutcome> outcomes);

}  // namespace driftscope
