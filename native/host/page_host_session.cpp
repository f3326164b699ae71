#include "native/host/page_host_session.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/protocol/batch.hpp"
#include "native/browser/page_life.hpp"
#include "native/browser/run_in_browser.hpp"
#include "native/host/service_run.hpp"

namespace driftscope {
namespace {

std::string_view phase_step(const std::optional<messages::Phase>& phase) {
  if (!phase) return "starting the browser";
  switch (*phase) {
    case messages::Phase::open: return "page opened";
    case messages::Phase::load: return "loading the model";
    case messages::Phase::compile: return preparing_step(0);
    case messages::Phase::run: return running_step;
    case messages::Phase::time: return timing_step;
    case messages::Phase::send: break;
  }
  return "sending the trace";
}

BrowserOptions browser_options(const RunnerOptions& options) {
  BrowserOptions browser;
  browser.timeout = options.timeout;
  browser.stall_timeout = options.stall_timeout;
  return browser;
}

/// What a browser is doing, and how much of it is done.
struct Step {
  std::string name;
  std::int64_t done = 0;
  std::int64_t total = 0;
};

Step step_of(const BrowserProgress& now, const BrowserOptions& options) {
  const JobProgress& job = now.job;
  Step step{std::string(phase_step(job.phase)), job.done, job.total};
  if (job.to_prepare > 0)
    step = {std::string(preparing_step(job.to_prepare)), job.prepared, job.to_prepare};
  else if (job.samples > 0)
    step = {std::move(step.name), job.sample, job.samples};
  // The text does not change while it lasts: each new one is a line of a log.
  if (now.slow) {
    const LifeLimits limits = life_limits(options.timeout, options.stall_timeout);
    step.name += fmt::format(", slowly: no progress for {}, at {} it is given up",
                             seconds_text(options.timeout), seconds_text(limits.stall));
  }
  return step;
}

class PageHostSession final : public HostSession {
 public:
  PageHostSession(Target target, const RunnerOptions& options, std::unique_ptr<PageSession> page, bool* lost)
      : target_(std::move(target)), options_(options), page_(std::move(page)), lost_(lost) {}

  Result<Trace> run(const RunRequest& request, const TargetProgress& progress) override {
    DRIFTSCOPE_TRY(const BrowserJob job, job_of(request));
    const BrowserOptions options = options_of_run();
    return run_in_browser(*page_, job, options, reporter(request, options, progress));
  }

  Result<NodePrograms> programs(const RunRequest& request, NodeId node,
                                const TargetProgress& progress) override {
    DRIFTSCOPE_TRY(const BrowserJob job, job_of(request));
    const BrowserOptions options = options_of_run();
    return programs_in_browser(*page_, job, node, options, reporter(request, options, progress));
  }

  Result<std::vector<CaseRun>> run_all(std::span<const RunRequest> requests,
                                       const TargetProgress& progress) override {
    const auto total = static_cast<std::int64_t>(requests.size());
    std::vector<BatchCase> cases;
    for (const RunRequest& request : requests) {
      BatchCase one{request.model->bytes.bytes(), {}, {}};
      for (const JobAttachment& file : request.model->attachments)
        one.attachments.push_back({file.location, file.bytes.bytes()});
      DRIFTSCOPE_TRY(one.inputs, pack_inputs(request.inputs));
      cases.push_back(std::move(one));
    }
    const auto run_part = [&](std::size_t first, std::size_t count,
                              const std::function<void(std::size_t)>& lost_at) {
      BrowserBatch batch;
      batch.target = target_;
      batch.name = fmt::format("{} cases", count);
      batch.cases = count;
      batch.packed = std::make_shared<const Bytes>(pack_batch(std::span(cases).subspan(first, count)));
      bool lost = false;
      std::optional<std::size_t> done;  // once cases run
      BrowserOptions options = browser_options(options_);
      options.lost = &lost;
      auto answers = run_batch_in_browser(*page_, batch, options, [&](const BrowserProgress& now) {
        if (now.job.phase == messages::Phase::run) done = static_cast<std::size_t>(now.job.done);
        progress(step_of(now, options).name, static_cast<std::int64_t>(first) + now.job.done, total);
        return !requests[first].stopped || !requests[first].stopped();
      });
      if (lost && done) lost_at(*done);
      return answers;
    };
    return run_surviving(cases.size(), run_part, losses_);
  }

 private:
  [[nodiscard]] Result<BrowserJob> job_of(const RunRequest& request) const {
    BrowserJob job;
    job.target = target_;
    job.model_name = request.model->name;
    job.model = request.model->bytes;
    job.model_sha256 = request.model->sha256;
    job.attachments = request.model->attachments;
    DRIFTSCOPE_TRY(Bytes inputs, pack_inputs(request.inputs));
    job.inputs = std::make_shared<const Bytes>(std::move(inputs));
    job.plan = request.plan;
    job.sink = request.sink;
    return job;
  }

  [[nodiscard]] BrowserOptions options_of_run() const {
    BrowserOptions options = browser_options(options_);
    options.lost = lost_;
    if (lost_ != nullptr) *lost_ = false;
    return options;
  }

  /// Refers to all of them: for one run.
  static BrowserProgressCallback reporter(const RunRequest& request, const BrowserOptions& options,
                                          const TargetProgress& progress) {
    return [&](const BrowserProgress& now) {
      const Step step = step_of(now, options);
      progress(step.name, step.done, step.total);
      return !request.stopped || !request.stopped();
    };
  }

  Target target_;
  RunnerOptions options_;
  std::unique_ptr<PageSession> page_;
  bool* lost_;
  int losses_ = 0;  ///< of the browser, while many cases ran
};

}  // namespace

std::unique_ptr<HostSession> page_host_session(Target target, const RunnerOptions& options,
                                               std::unique_ptr<PageSession> page, bool* lost) {
  return std::make_unique<PageHostSession>(std::move(target), options, std::move(page), lost);
}

}  // namespace driftscope
