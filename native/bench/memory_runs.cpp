#include "native/bench/memory_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "native/bench/browser_subject.hpp"
#include "native/bench/machine.hpp"
#include "native/browser/browsers.hpp"
#include "native/host/service_run.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

// As many samples as a slope needs, few enough that taking them does not outweigh the runs: in a browser each
// one is a request, whose own garbage is memory as well.
constexpr std::int64_t samples_wanted = 40;
constexpr std::size_t fewest_samples = 20;

class Samples {
 public:
  void add(std::int64_t run, const std::string& kind, std::int64_t bytes, bool exact) {
    if (bytes <= 0) return;
    auto found = std::ranges::find(series_, kind, &MemorySeries::kind);
    if (found == series_.end()) found = series_.insert(series_.end(), MemorySeries{kind, exact});
    found->runs.push_back(static_cast<double>(run));
    found->bytes.push_back(static_cast<double>(bytes));
  }
  [[nodiscard]] const std::vector<MemorySeries>& series() const { return series_; }
  /// Of the whole target: what its processes take.
  [[nodiscard]] double growth() const {
    double largest = 0.0;
    for (const MemorySeries& one : series_) largest = std::max(largest, one.bytes.back() - one.bytes.front());
    return largest;
  }

 private:
  std::vector<MemorySeries> series_;
};

void take_sample(Samples& samples, std::int64_t run, const Slice& slice, const Subject& subject) {
  samples.add(run, "heap_in_use", slice.heap_bytes, true);
  samples.add(run, slice.engine_kind, slice.engine_bytes, !slice.engine_kind.ends_with("_pss"));
  for (const MemoryRecord& process : subject.processes())
    samples.add(run, process.kind, process.bytes, false);
}

}  // namespace

Result<MemoryOverRuns> watch_memory(Subject& subject, const MemoryRunsRequest& request, const StopCheck& stop,
                                    const TargetProgress& progress) {
  const std::int64_t each = std::max<std::int64_t>(1, request.runs / samples_wanted);
  const std::int64_t max_growth = request.max_growth > 0 ? request.max_growth : available_memory_bytes() / 2;
  const auto begin = Clock::now();
  MemoryOverRuns memory;
  Samples samples;
  std::size_t taken = 0;
  while (memory.runs < request.runs) {
    if (stop()) return Error{ErrorKind::cancelled, "stopped"};
    progress("watching memory", memory.runs, request.runs);
    const std::int64_t runs = std::min(each, request.runs - memory.runs);
    DRIFTSCOPE_TRY(const Slice slice, subject.measure({.slice_ms = 0, .inner = runs, .max_runs = runs}));
    memory.runs += runs;
    take_sample(samples, memory.runs, slice, subject);
    ++taken;
    if (max_growth > 0 && samples.growth() > static_cast<double>(max_growth)) {
      memory.end = MemoryEnd::memory;
      break;
    }
    if (taken >= fewest_samples && growth_is_decided(samples.series())) {
      memory.end = MemoryEnd::decided;
      break;
    }
    if (Clock::now() - begin > request.time) {
      memory.end = MemoryEnd::time;
      break;
    }
  }
  memory.series = samples.series();
  return memory;
}

Result<MemoryOverRuns> watch_memory(const Target& target, const MemoryRunsRequest& request,
                                    std::unique_ptr<Server>& server, const StopCheck& stop,
                                    const TargetProgress& progress) {
  DRIFTSCOPE_TRY(Bytes packed, pack_inputs(request.inputs));
  SubjectSpec spec;
  spec.target = target;
  spec.model = request.model;
  spec.inputs = std::make_shared<const Bytes>(std::move(packed));
  spec.timeout = request.runner.timeout;
  spec.stall_timeout = request.runner.stall_timeout;
  progress("watching memory", 0, request.runs);
  BenchRow row;
  std::unique_ptr<Subject> subject;
  if (target.host == "pc") {
    DRIFTSCOPE_TRY(subject, open_local_subject(spec, stop, row));
  } else if (std::ranges::find(browser_hosts(), target.host) == browser_hosts().end()) {
    return unsupported(fmt::format("memory over runs is not watched on the host {}, but on pc, {}",
                                   target.host, fmt::join(browser_hosts(), ", ")));
  } else {
    DRIFTSCOPE_TRY(spec.site, find_site(request.runner.site));
    if (!server) {
      ServerOptions options;
      options.site = spec.site;
      DRIFTSCOPE_TRY(server, Server::start(std::move(options)));
    }
    DRIFTSCOPE_TRY(subject, open_browser_subject(*server, spec, stop, row));
  }
  return watch_memory(*subject, request, stop, progress);
}

}  // namespace driftscope
