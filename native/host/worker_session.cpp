#include "native/host/worker_session.hpp"

#include <optional>
#include <utility>

#include "native/browser/page_life.hpp"
#include "native/host/service_run.hpp"
#include "native/host/worker_process.hpp"
#include "native/os/cleanup.hpp"

namespace driftscope {
namespace {

/// The first request, which loads the model, takes its bytes along.
class Line final : public ServiceTransport {
 public:
  Line(WorkerProcess& process, OutsideParts outside, std::chrono::milliseconds patience, StopCheck stop)
      : process_(process), outside_(std::move(outside)), patience_(patience), stop_(std::move(stop)) {}

  Result<Response> exchange(const std::string& json, std::span<const std::byte> payload) override {
    const OutsideParts outside = std::exchange(outside_, {});
    return process_.exchange(json, payload, outside, patience_, stop_);
  }

 private:
  WorkerProcess& process_;
  OutsideParts outside_;
  std::chrono::milliseconds patience_;
  StopCheck stop_;
};

class WorkerSession final : public HostSession {
 public:
  WorkerSession(Target target, std::vector<std::string> program, const RunnerOptions& options)
      : target_(std::move(target)),
        program_(std::move(program)),
        patience_(life_limits(options.timeout, options.stall_timeout).stall) {}

  Result<Trace> run(const RunRequest& request, const TargetProgress& progress) override {
    if (!process_ || !process_->running()) {
      progress("starting the program", 0, 0);
      process_.reset();
      DRIFTSCOPE_TRY(WorkerProcess process, WorkerProcess::start(program_));
      process_.emplace(std::move(process));
    }
    const LoadRequest load = load_request(*request.model, target_);
    const auto stopped = [&request] {
      return CleanupRegistry::instance().closed() || (request.stopped && request.stopped());
    };
    Line line(*process_, load.outside, patience_, stopped);
    auto trace = run_on_service(line, target_, load, request,
                                {.stream_values = true, .environment = {{"host", target_.host}}}, progress);
    if (!trace.ok()) {
      process_.reset();
      return in_context(std::move(trace).error(), target_.host);
    }
    return trace;
  }

 private:
  Target target_;
  std::vector<std::string> program_;
  std::chrono::milliseconds patience_;
  std::optional<WorkerProcess> process_;
};

}  // namespace

std::unique_ptr<HostSession> worker_session(Target target, std::vector<std::string> program,
                                            const RunnerOptions& options) {
  return std::make_unique<WorkerSession>(std::move(target), std::move(program), options);
}

}  // namespace driftscope
