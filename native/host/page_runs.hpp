// Runs on devices of the hub for the page of its owner: in the messages that a worker's engine gets, over
// TargetRunner, which blocks until a run is over and so has a thread of its own. Client: the command serve.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/trace/trace.hpp"
#include "native/host/run_request.hpp"
#include "native/http/pc_runs.hpp"
#include "native/http/run_elsewhere.hpp"

namespace driftscope {

/// Blocks until the run is over.
using RunTarget = std::function<Result<Trace>(const Target&, const RunRequest&, const TargetProgress&)>;

/// One run by `run`, of targets remote:NAME/engine alone. It is stopped when the page says nothing for so
/// long, and when this object goes, which waits for it.
[[nodiscard]] std::unique_ptr<RunElsewhere> page_run(
    RunTarget run, std::chrono::milliseconds longest_silence = PcRuns::longest_silence);

/// Each by a TargetRunner of its own.
[[nodiscard]] BeginRunElsewhere page_runs(const RunnerOptions& options);

}  // namespace driftscope
