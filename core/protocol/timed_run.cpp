#include "core/protocol/timed_run.hpp"

#include <new>

#include "core/protocol/memory_runs.hpp"
#include "core/protocol/unwatched_runs.hpp"

namespace driftscope {

Result<std::unique_ptr<TimedRun>> TimedRun::start(LoadedModel& model, StartRequest request, Reload reload) {
  std::unique_ptr<TimedRun> run(new TimedRun());
  run->samples_ = request.samples;
  if (request.unwatched_ns > 0) run->after_.push_back(std::make_unique<UnwatchedRuns>(request.unwatched_ns));
  if (request.memory_runs > 0) run->after_.push_back(std::make_unique<MemoryRuns>(request.memory_runs));
  if (!run->after_.empty()) {
    run->after_start_.target = request.target;
    run->after_start_.environment = request.environment;
    run->after_start_.inputs = request.inputs;
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
    if (recorded_ && !after_.empty()) --progress.nodes.done;  // something follows
    return progress;
  }
  ServiceProgress progress;
  progress.samples = samples_;
  progress.sample = samples_;
  progress.nodes = {1, 1};
  if (after_.empty()) return progress;
  if (watched_ && watched_->holds_values()) {
    progress.nodes = {0, 1};
    return progress;
  }
  if (watched_) {
    DRIFTSCOPE_TRY(trace_, watched_->take());
    watched_.reset();  // its session is not needed, and must not take memory from the next one
  }
  if (next_after_ == after_.size()) return progress;
  const auto now = poll_after(budget_ns);
  if (now.ok() && !now->finished()) {
    progress.nodes = *now;
    return progress;
  }
  auto ended = std::move(after_[next_after_++]);
  prepared_ = false;
  if (now.ok())
    ended->add_to(trace_);
  else
    DRIFTSCOPE_CHECK(ended->failed(trace_, now.error()));
  if (next_after_ < after_.size()) progress.nodes = {0, 1};
  return progress;
}

Result<Progress> TimedRun::poll_after(std::int64_t budget_ns) {
  try {
    if (!prepared_) {
      DRIFTSCOPE_TRY(LoadedModel* const model, reload_());
      DRIFTSCOPE_CHECK(after_[next_after_]->prepare(*model, after_start_));
      prepared_ = true;
    }
    return after_[next_after_]->poll(budget_ns);
  } catch (const std::bad_alloc&) {
    return limit_error("out of memory");
  }
}

Result<Trace> TimedRun::take() {
  if (watched_ && after_.empty()) return watched_->take();
  if (watched_ || next_after_ < after_.size())
    return bad_input("request: \"finish\" before the run has finished; poll until it has");
  return std::move(trace_);
}

}  // namespace driftscope
