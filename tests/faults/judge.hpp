// One planted fault, judged. Clients: main, clean_layers, minimum_errors.
#pragma once

#include <cstdint>
#include <string>

#include "core/platform/platform.hpp"
#include "core/trace/trace.hpp"
#include "tests/faults/kind.hpp"

namespace driftscope::faults {

enum class Outcome {
  right_layer,  ///< a fault at the target, and nowhere else
  suspect,      ///< at the target, and nowhere else
  unjudged,     ///< the target: the verdict says that its budget is inconclusive
  no_effect,    ///< the fault gave the same bits as a correct implementation
  unjudgeable,  ///< its effect is within the spread of correct implementations
  missed,       ///< it passed
  wrong_layer,  ///< another layer is suspect or a fault
  wrong_cause,  ///< another cause than its own is named
  clean_alarm,  ///< a control is suspect or a fault
  broken,       ///< the case could not be run
};
[[nodiscard]] std::string_view outcome_name(Outcome outcome);

struct Judged {
  Outcome outcome = Outcome::broken;
  double effect = 0.0;  ///< largest error of the faulty value, in the spread of correct ones
  double budget_used = 0.0;
  std::string cause = {};  ///< of a fault at the target; empty: none was found
  std::string detail = {};
};

/// The network run by `other` for the target and by `right` elsewhere; `seen` receives the target's inputs.
[[nodiscard]] Result<Trace> record_network(const Network& network, const Fault& right, const Fault& other,
                                           NodeRun* seen = nullptr);

/// A fault may be excused as unjudgeable up to this multiple of the spread.
inline constexpr double judgeable_from = 2.0;

[[nodiscard]] Judged judge(const FaultKind& kind, std::uint64_t seed, ThreadPool& threads);

}  // namespace driftscope::faults
