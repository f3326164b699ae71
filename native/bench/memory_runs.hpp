// A target that runs again and again while its memory is watched: does it grow from run to run? The target
// has its own processes, as in a bench, so that only its memory is seen. Clients: the commands run, compare.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "core/bench/memory_growth.hpp"
#include "native/bench/open_subject.hpp"
#include "native/bench/subject.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct MemoryRunsRequest {
  const ModelFile* model = nullptr;
  NamedInputs inputs;
  std::int64_t runs = 200;         ///< at most
  std::chrono::seconds time{120};  ///< at most, of running
  /// No more than this beyond what there was after the first run; 0: half of what is available then.
  std::int64_t max_growth = 0;
  RunnerOptions runner;
};

/// Errors: those of the target. A server is started when the first browser needs it.
[[nodiscard]] Result<MemoryOverRuns> watch_memory(const Target& target, const MemoryRunsRequest& request,
                                                  SiteServers& servers, const StopCheck& stop,
                                                  const TargetProgress& progress);

/// The same with a subject that is open.
[[nodiscard]] Result<MemoryOverRuns> watch_memory(Subject& subject, const MemoryRunsRequest& request,
                                                  const StopCheck& stop, const TargetProgress& progress);

}  // namespace driftscope
