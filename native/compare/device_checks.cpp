#include "native/compare/device_checks.hpp"

#include <optional>
#include <utility>

#include "native/host/service_run.hpp"

namespace driftscope {
namespace {

using Clock = std::chrono::steady_clock;

class DeviceMemoryRun final : public TargetRun {
 public:
  DeviceMemoryRun(TargetRunner& runner, Target target, RunRequest request)
      : runner_(runner), target_(std::move(target)), request_(std::move(request)) {}

  Result<RunState> poll(const StepProgress& progress) override {
    std::optional<Clock::time_point> began;  // of the runs: loading and preparing do not count
    const auto late = [&] { return began && Clock::now() - *began > device_memory_time; };
    RunRequest request = request_;
    request.stopped = [&, others = request_.stopped] { return (others && others()) || late(); };
    auto trace =
        runner_.run(target_, request, [&](std::string_view step, std::int64_t done, std::int64_t total) {
          if (step == timing_step && !began) began = Clock::now();
          progress(step == timing_step ? "watching memory" : step, done, total);
        });
    if (trace.ok())
      trace_ = *std::move(trace);
    else if (trace.error().kind != ErrorKind::cancelled || !late())
      return in_context(std::move(trace).error(), "watching memory");
    return RunState::finished;
  }
  Trace take() override { return std::move(trace_); }

 private:
  TargetRunner& runner_;
  Target target_;
  RunRequest request_;
  Trace trace_;
};

}  // namespace

std::unique_ptr<TargetRun> device_memory_run(TargetRunner& runner, Target target, RunRequest request) {
  request.plan.memory_runs = device_memory_runs;
  return std::make_unique<DeviceMemoryRun>(runner, std::move(target), std::move(request));
}

}  // namespace driftscope
