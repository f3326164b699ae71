#include "native/host/target_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/protocol/batch.hpp"
#include "core/trace/trace_file.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/perturbation.hpp"
#include "native/browser/page_life.hpp"
#include "native/browser/run_in_browser.hpp"
#include "native/host/service_run.hpp"
#include "native/os/files.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

Result<Trace> read_recorded(const Target& target, const Graph& graph) {
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(target.engine));
  auto trace = read_trace(bytes);
  if (!trace.ok()) return in_context(std::move(trace).error(), target.engine);
  rename_values(graph, match_names(graph, TraceView(*trace)), *trace);
  return trace;
}

std::string_view phase_step(const std::optional<messages::Phase>& phase) {
  if (!phase) return "starting the browser";
  switch (*phase) {
    case messages::Phase::open: return "page opened";
    case messages::Phase::load: return "loading the model";
    case messages::Phase::compile: return preparing_step(0);
    case messages::Phase::run: return "running";
    case messages::Phase::time: return "measuring its time";
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

}  // namespace

TargetRunner::TargetRunner(RunnerOptions options) : options_(std::move(options)) {}

void TargetRunner::rest() { session_.reset(); }

Result<BrowserSession*> TargetRunner::session_for(const Target& target) {
  if (session_ && session_of_ == target.text()) return session_.get();
  rest();
  if (!server_) {
    DRIFTSCOPE_TRY(const auto site, find_site(options_.site));
    ServerOptions server_options;
    server_options.site = site;
    DRIFTSCOPE_TRY(server_, Server::start(std::move(server_options)));
  }
  DRIFTSCOPE_TRY(HostInfo host, probe_target_host(target));
  session_ = std::make_unique<BrowserSession>(*server_, std::move(host));
  session_of_ = target.text();
  return session_.get();
}

Result<std::vector<CaseRun>> TargetRunner::run_all(const Target& target, std::span<const RunRequest> requests,
                                                   const TargetProgress& progress) {
  std::vector<CaseRun> traces;
  const auto total = static_cast<std::int64_t>(requests.size());
  if (target.host == "pc") {
    for (const RunRequest& request : requests) {
      progress("running", static_cast<std::int64_t>(traces.size()), total);
      traces.push_back({run_locally(target, request, [](auto, auto, auto) {})});
    }
    return traces;
  }
  const auto& browsers = browser_hosts();
  if (std::find(browsers.begin(), browsers.end(), target.host) == browsers.end())
    return bad_input(fmt::format("target {}: there is no host '{}' that runs models; hosts are pc, {}",
                                 target.text(), target.host, fmt::join(browsers, ", ")));
  DRIFTSCOPE_TRY(BrowserSession* const session, session_for(target));
  std::vector<BatchCase> cases;
  for (const RunRequest& request : requests) {
    BatchCase one{*request.model->bytes, {}, {}};
    for (const JobAttachment& file : request.model->attachments)
      one.attachments.push_back({file.location, *file.bytes});
    DRIFTSCOPE_TRY(one.inputs, pack_inputs(request.inputs));
    cases.push_back(std::move(one));
  }
  return run_surviving(cases.size(), [&](std::size_t first, std::size_t count,
                                         const std::function<void(std::size_t)>& lost_at) {
    BrowserBatch batch;
    batch.target = target;
    batch.name = fmt::format("{} cases", count);
    batch.cases = count;
    batch.packed = std::make_shared<const Bytes>(pack_batch(std::span(cases).subspan(first, count)));
    bool lost = false;
    std::optional<std::size_t> done;  // once cases run
    BrowserOptions options = browser_options(options_);
    options.lost = &lost;
    auto answers = run_batch_in_browser(*session, batch, options, [&](const BrowserProgress& now) {
      if (now.job.phase == messages::Phase::run) done = static_cast<std::size_t>(now.job.done);
      progress(step_of(now, options).name, static_cast<std::int64_t>(first) + now.job.done, total);
      return true;
    });
    if (lost && done) lost_at(*done);
    return answers;
  });
}

Result<Trace> TargetRunner::run(const Target& target, const RunRequest& request,
                                const TargetProgress& progress) {
  const auto& browsers = browser_hosts();
  if (session_of_ != target.text()) rest();  // an open browser is no load, but it is not nothing
  if (target.host == "pc") return run_locally(target, request, progress);
  if (target.host == "file") return read_recorded(target, request.model->graph);
  if (std::find(browsers.begin(), browsers.end(), target.host) != browsers.end())
    return run_in_a_browser(target, request, progress);
  return bad_input(fmt::format("target {}: there is no host '{}' here; hosts are pc, {}, file", target.text(),
                               target.host, fmt::join(browsers, ", ")));
}

Status TargetRunner::check_perturbation(const Target& target, const RunRequest& request, Trace& trace,
                                        const TargetProgress& progress) {
  RunRequest unwatched = request;
  unwatched.capture = Capture::outputs;
  unwatched.values.reset();
  unwatched.sink = nullptr;
  unwatched.repeat = 1;
  unwatched.settle = {};
  unwatched.compare_runs = false;
  unwatched.unwatched = {};
  DRIFTSCOPE_TRY(const Trace other, run(target, unwatched, progress));
  DRIFTSCOPE_TRY(const PerturbationCheck check,
                 driftscope::check_perturbation(request.model->graph, trace, other));
  add_perturbation_check(trace, check);
  return {};
}

Result<Trace> TargetRunner::run_in_a_browser(const Target& target, const RunRequest& request,
                                             const TargetProgress& progress) {
  DRIFTSCOPE_TRY(BrowserSession* const session, session_for(target));
  BrowserJob job;
  job.target = target;
  job.model_name = request.model->path.filename().string();
  job.model = request.model->bytes;
  job.model_sha256 = request.model->sha256;
  job.attachments = request.model->attachments;
  DRIFTSCOPE_TRY(Bytes inputs, pack_inputs(request.inputs));
  job.inputs = std::make_shared<const Bytes>(std::move(inputs));
  job.capture = request.capture;
  job.values = request.values;
  job.sink = request.sink;
  job.repeat = request.repeat;
  job.settle = request.settle;
  job.compare_runs = request.compare_runs;
  job.unwatched = request.unwatched;
  job.samples = request.samples;
  const BrowserOptions options = browser_options(options_);
  const auto on_progress = [&](const BrowserProgress& now) {
    const Step step = step_of(now, options);
    progress(step.name, step.done, step.total);
    return !request.stopped || !request.stopped();
  };
  return run_in_browser(*session, job, options, on_progress);
}

}  // namespace driftscope
