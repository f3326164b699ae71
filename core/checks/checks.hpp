// Turns a comparison into checks that pass or fail, for pipelines: one per layer and target, and one per
// target for its output and its speed. Pure functions. Clients: compare, baseline; junit, annotations
// and the summary show the results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checks/fail_on.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope {

struct BaselineCheck;

enum class CheckOutcome {
  passed,
  skipped,  ///< it could not be checked, for a reason that is not an error
  failed,
  error,  ///< the target did not run
};

/// One check. `kind` says which condition it belongs to: "fault", "suspect", "unjudged", "nonfinite",
/// "overflow", "top1", "bits", "unrepeatable", "growing", "slower", "run"; empty for a layer without a
/// problem.
struct CheckCase {
  std::string target;
  std::string name;  ///< "conv1 (Conv)", "top-1", "speed"
  CheckOutcome outcome = CheckOutcome::passed;
  std::string kind;
  std::string message;       ///< one line; empty when all is well
  std::int64_t time_ns = 0;  ///< of the layer; 0: unknown
};

struct CheckReport {
  FailOn conditions;
  std::vector<CheckCase> cases;

  [[nodiscard]] std::size_t count(CheckOutcome outcome) const;
  /// A check failed. A target that did not run is an error, with an exit code of its own.
  [[nodiscard]] bool failed() const { return count(CheckOutcome::failed) > 0; }
};

/// Without a baseline, top-1, bits and speed are compared with the left target, otherwise with the baseline,
/// whose suspect and faulty layers are known and pass. A condition that was requested but cannot be
/// judged (no times, no scores) fails.
[[nodiscard]] CheckReport run_checks(const ComparisonView& view, const FailOn& conditions,
                                     const BaselineCheck* baseline = nullptr);

/// A few lines for people: whether it passed, and the first `limit` checks that did not.
[[nodiscard]] std::string checks_text(const CheckReport& checks, std::size_t limit = 20);

/// {"fail_on":"fault,top1","passed":true,"checks":39,"failures":[{"target","name","kind","message"}],
///  "errors":[…],"skipped":[…]}
[[nodiscard]] std::string checks_json(const CheckReport& checks);

}  // namespace driftscope
