// What follows the watched run of a "start", each in a session of its own. Clients: timed_run; unwatched_runs
// and memory_runs implement it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/protocol/load.hpp"
#include "core/protocol/run.hpp"

namespace driftscope {

class RunsAfter {
 public:
  virtual ~RunsAfter() = default;
  /// Makes the session; `start` as of the watched run.
  [[nodiscard]] virtual Status prepare(LoadedModel& model, StartRequest start) = 0;
  [[nodiscard]] virtual Result<Progress> poll(std::int64_t budget_ns) = 0;
  /// Adds what was found to the watched run's trace, once poll has said finished.
  virtual void add_to(Trace& trace) = 0;
  /// The same where it failed: what was recorded is kept. An error ends the whole run.
  [[nodiscard]] virtual Status failed(Trace& trace, const Error& error) = 0;
};

}  // namespace driftscope
