// What a comparison needs from the place where it happens: runs of targets. The PC runs them itself or has a
// browser do it; a page starts a worker for each. Clients: ComparisonRun (calls it); native/host, the page's
// worker, tests (implement it).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "core/base/result.hpp"
#include "core/runtime/target.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// What a run is for.
enum class RunPurpose {
  layers,   ///< the run that is compared: every value that is to be captured
  outputs,  ///< once more, capturing outputs only: did capturing change the result?
  times,    ///< once more, for the times of nodes and of unwatched runs; values are of no interest
  dataset,  ///< samples of the data set; outputs with a leading axis of samples
  memory,   ///< again and again while memory is watched: of its trace `memory_runs` in `run` counts
};

/// Called with the current step ("starting the browser", "running") and the nodes or samples done.
using StepProgress = std::function<void(std::string_view step, std::int64_t done, std::int64_t total)>;

enum class RunState {
  running,   ///< poll again
  waiting,   ///< poll again, but not before the host's event loop has run
  finished,  ///< take the trace
};

/// One run under way. Destroying it ends the run.
class TargetRun {
 public:
  virtual ~TargetRun() = default;
  /// Continues the run. A host with nothing else to do may finish it in one call. The error is the run's.
  [[nodiscard]] virtual Result<RunState> poll(const StepProgress& progress) = 0;
  /// The trace of a finished run; to be called once.
  [[nodiscard]] virtual Trace take() = 0;
};

class ComparisonHost {
 public:
  virtual ~ComparisonHost() = default;
  /// Begins a run on the inputs of the comparison. The error is that of this target. `samples`: those of the
  /// data set that run, ascending; only of that purpose.
  [[nodiscard]] virtual Result<std::unique_ptr<TargetRun>> start(const Target& target, RunPurpose purpose,
                                                                 std::span<const std::int64_t> samples) = 0;
  /// Called while values of traces are read: a host that keeps them elsewhere may give back their memory.
  virtual void release_values() {}
  /// Whether the user wants the comparison to end.
  [[nodiscard]] virtual bool stopped() const = 0;
};

}  // namespace driftscope
