#include "core/protocol/timed_run.hpp"

#include <new>

namespace driftscope {

Result<std::unique_ptr<TimedRun>> TimedRun::start(LoadedModel& model, StartRequest request, Reload reload) {
  std::unique_ptr<TimedRun> run(new TimedRun());
  run->samples_ = request.samples;
  run->unwatched_ns_ = request.unwatched_ns;
  if (request.unwatched_ns > 0) {
    run->unwatched_start_.target = request.target;
    run->unwatched_start_.environment = request.environment;
    run->unwatched_start_.inputs = request.inputs;
  }
  run->reload_ = std::move(reload);
  DRIFTSCOPE_TRY(run->watched_, ServiceRun::start(model, std::move(request)));
  run->nodes_ = run->watched_->nodes();
  run->output_names_ = run->watched_->output_names();
  return run;
}

ValueStream::Pieces TimedRun::take_values() {
  if (!watched_) return {};
  return watched_->take_values();
}

Result<ServiceProgress> TimedRun::poll(std::int64_t budget_ns) {
  if (watched_ && !recorded_) {
    DRIFTSCOPE_TRY(ServiceProgress progress, watched_->poll(budget_ns));
    recorded_ = progress.finished();
    if (recorded_ && unwatched_ns_ > 0) --progress.nodes.done;  // something follows
    return progress;
  }
  ServiceProgress progress;
  progress.samples = samples_;
  progress.sample = samples_;
  progress.nodes = {1, 1};
  if (unwatched_ns_ == 0) return progress;
  if (watched_ && watched_->holds_values()) {
    progress.nodes = {0, 1};
    return progress;
  }
  if (watched_) {
    DRIFTSCOPE_TRY(trace_, watched_->take());
    watched_.reset();  // its session is not needed, and must not take memory from the next one
  }
  auto now = poll_unwatched(budget_ns);
  if (now.ok()) {
    progress.nodes = *now;
    if (now->finished() && !times_) times_ = unwatched_->take();
  } else {
    times_.emplace();
    times_->error = now.error().message;
  }
  if (times_) unwatched_.reset();
  return progress;
}

Status TimedRun::begin_unwatched() {
  DRIFTSCOPE_TRY(LoadedModel* const model, reload_());
  DRIFTSCOPE_TRY(unwatched_, UnwatchedRuns::prepare(*model, std::move(unwatched_start_), unwatched_ns_));
  return {};
}

Result<Progress> TimedRun::poll_unwatched(std::int64_t budget_ns) {
  try {
    if (times_) return Progress{1, 1};
    if (!unwatched_) DRIFTSCOPE_CHECK(begin_unwatched());
    return unwatched_->poll(budget_ns);
  } catch (const std::bad_alloc&) {
    return limit_error("out of memory");
  }
}

Result<Trace> TimedRun::take() {
  if (watched_ && unwatched_ns_ == 0) return watched_->take();
  if (!times_) return bad_input("request: \"finish\" before the run has finished; poll until it has");
  RunTimes times = run_times_of(trace_).value_or(RunTimes());
  times.unwatched = std::move(times_);
  times_.reset();
  set_run_times(trace_, times);
  return std::move(trace_);
}

}  // namespace driftscope
