#include "native/bench/memory_runs.hpp"

#include "core/bench/memory_sampling.hpp"
#include "native/bench/machine.hpp"
#include "native/bench/open_subject.hpp"
#include "native/host/service_run.hpp"

namespace driftscope {
namespace {

void take_samples(MemorySampling& sampling, const Slice& slice, const Subject& subject) {
  sampling.add("heap_in_use", slice.heap_bytes, true);
  sampling.add(slice.engine_kind, slice.engine_bytes, !slice.engine_kind.ends_with("_pss"));
  for (const MemoryRecord& process : subject.processes()) sampling.add(process.kind, process.bytes, false);
}

}  // namespace

Result<MemoryOverRuns> watch_memory(Subject& subject, const MemoryRunsRequest& request, const StopCheck& stop,
                                    const TargetProgress& progress) {
  MemorySampling sampling(
      {.runs = request.runs,
       .seconds = std::chrono::duration<double>(request.time).count(),
       .max_growth = request.max_growth > 0 ? request.max_growth : available_memory_bytes() / 2});
  const auto begin = Clock::now();
  do {
    if (stop()) return Error{ErrorKind::cancelled, "stopped"};
    progress("watching memory", sampling.runs(), request.runs);
    const std::int64_t runs = sampling.next_runs();
    DRIFTSCOPE_TRY(const Slice slice, subject.measure({.slice_ms = 0, .inner = runs, .max_runs = runs}));
    sampling.ran(runs);
    take_samples(sampling, slice, subject);
  } while (!sampling.finished(std::chrono::duration<double>(Clock::now() - begin).count()));
  return sampling.memory();
}

Result<MemoryOverRuns> watch_memory(const Target& target, const MemoryRunsRequest& request,
                                    SiteServers& servers, const StopCheck& stop,
                                    const TargetProgress& progress) {
  DRIFTSCOPE_TRY(Bytes packed, pack_inputs(request.inputs));
  SubjectSpec spec;
  spec.target = target;
  spec.model = request.model;
  spec.inputs = std::make_shared<const Bytes>(std::move(packed));
  progress("watching memory", 0, request.runs);
  BenchRow row;
  DRIFTSCOPE_TRY(const auto subject, open_subject(std::move(spec), request.runner, servers, stop, row));
  return watch_memory(*subject, request, stop, progress);
}

}  // namespace driftscope
