#include "core/compare/comparison_run.hpp"

#include <utility>

#include "core/bench/memory_growth.hpp"
#include "core/results/run_times.hpp"
#include "core/verify/compare.hpp"
#include "core/verify/engine_models.hpp"
#include "core/verify/perturbation.hpp"

namespace driftscope {

/// The target under way.
struct ComparisonRun::Current {
  Target target;
  TargetResult result;
  ComparisonStage stage = ComparisonStage::running;
  std::unique_ptr<TargetRun> run;  // null in stages that run nothing
  std::optional<DatasetCampaign> dataset;
  std::optional<PredictedLayers> predicted;  // of its rounding

  /// The first error is the target's, as later ones follow from it.
  void fail(Error error) {
    if (!result.error) result.error = std::move(error);
  }
};

ComparisonRun::ComparisonRun(const Graph& graph, ComparisonPlan plan, ComparisonView about,
                             ComparisonHost& host, ThreadPool& threads, ComparisonListener& listener)
    : graph_(graph),
      plan_(std::move(plan)),
      view_(std::move(about)),
      host_(host),
      threads_(threads),
      listener_(listener) {
  view_.notes = note_lines(graph.notes);
}

ComparisonRun::~ComparisonRun() = default;

Result<RunState> ComparisonRun::poll() {
  if (host_.stopped()) {
    current_.reset();
    return Error{ErrorKind::cancelled, "stopped"};
  }
  if (!current_) {
    if (next_ >= plan_.targets.size()) return RunState::finished;
    current_ = std::make_unique<Current>();
    if (const auto target = begin_target()) {
      current_->target = *target;
      predict_move();
      begin_run(RunPurpose::layers, ComparisonStage::running);
    } else {
      finish_target();
    }
    return RunState::running;
  }
  if (current_->run) return poll_run();
  if (current_->stage == ComparisonStage::verifying)
    verify_trace();
  else
    compare_traces();
  return RunState::running;
}

std::optional<Target> ComparisonRun::begin_target() {
  const std::string& text = plan_.targets[next_];
  auto target = parse_target(text);
  current_->result.target = target.ok() ? target->text() : text;
  if (target.ok()) return *std::move(target);
  current_->fail(std::move(target).error());
  return std::nullopt;
}

void ComparisonRun::report(std::string_view step, std::int64_t done, std::int64_t total) {
  listener_.on_progress(next_, current_->stage, step, done, total);
}

void ComparisonRun::begin_run(RunPurpose purpose, ComparisonStage stage,
                              std::span<const std::int64_t> samples) {
  current_->stage = stage;
  auto run = host_.start(current_->target, purpose, samples);
  if (run.ok()) {
    current_->run = *std::move(run);
    return;
  }
  run_failed(std::move(run).error());
}

/// Without its times a target is judged all the same.
void ComparisonRun::run_failed(Error error) {
  if (current_->stage == ComparisonStage::measuring_times)
    set_unwatched_error(*current_->result.trace, std::move(error.message));
  else
    current_->fail(std::move(error));
  next_stage();
}

/// The next samples of the data set, or what they amount to.
void ComparisonRun::begin_samples() {
  current_->stage = ComparisonStage::running_dataset;
  if (const auto samples = current_->dataset->next(); !samples.empty())
    return begin_run(RunPurpose::dataset, ComparisonStage::running_dataset, samples);
  auto result = current_->dataset->result();
  if (result.ok())
    current_->result.dataset = *std::move(result);
  else
    current_->fail(std::move(result).error());
  next_stage();
}

Result<RunState> ComparisonRun::poll_run() {
  const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
    if (current_->dataset && total == current_->dataset->batch_size())
      report(step, current_->dataset->done() + done, plan_.dataset->samples);
    else
      report(step, done, total);
  };
  const auto state = current_->run->poll(progress);
  if (!state.ok()) {
    current_->run.reset();
    if (host_.stopped()) return RunState::running;  // the next poll says so
    run_failed(state.error());
    return RunState::running;
  }
  if (*state != RunState::finished) return *state;
  take_run();
  return RunState::running;
}

void ComparisonRun::take_run() {
  Trace trace = current_->run->take();
  current_->run.reset();
  TargetResult& result = current_->result;
  if (current_->stage == ComparisonStage::running) {
    result.trace = std::move(trace);
  } else if (current_->stage == ComparisonStage::checking_perturbation) {
    const auto check = check_perturbation(graph_, *result.trace, trace);
    if (check.ok())
      add_perturbation_check(*result.trace, *check);
    else
      current_->fail(check.error());
  } else if (current_->stage == ComparisonStage::measuring_times) {
    take_times(*result.trace, trace);
  } else if (current_->stage == ComparisonStage::watching_memory) {
    if (const auto memory = memory_over_runs_of(trace)) add_memory_over_runs(*result.trace, *memory);
  } else {
    const Status taken = current_->dataset->take(graph_, trace, result.target);
    if (taken.ok()) return begin_samples();
    current_->fail(taken.error());
  }
  next_stage();
}

/// From the left target's input and answer: a model without gradients is compared all the same.
void ComparisonRun::prepare_sensitivity() {
  if (plan_.sensitivity == SensitivityWanted::never) return;
  auto prepared = AnswerSensitivity::prepare(graph_, TraceView(*current_->result.trace), plan_.sensitivity,
                                             threads_, [&](std::int64_t done, std::int64_t total) {
                                               report("computing the gradient", done, total);
                                               return !host_.stopped();
                                             });
  if (prepared.ok())
    sensitivity_ = std::make_unique<const AnswerSensitivity>(*std::move(prepared));
  else
    no_sensitivity_ = prepared.error().message;
}

/// What the target's rounding can do; of a recorded file once it is read, as only it says what made it.
void ComparisonRun::predict_move() {
  if (!sensitivity_) return;
  const Target& target = current_->target;
  const bool is_file = target.host == "file";
  if (is_file && !current_->result.trace) return;
  const auto progress = [&](std::int64_t done, std::int64_t total) {
    report("predicting", done, total);
    return !host_.stopped();
  };
  const std::string key = is_file ? target.text() : target.text().substr(target.host.size());
  auto found = predicted_.find(key);
  if (found == predicted_.end()) {
    auto predicted = is_file
                         ? sensitivity_->predict(error_model_of(*current_->result.trace), threads_, progress)
                         : sensitivity_->predict(target, threads_, progress);
    if (!predicted.ok()) return;
    found = predicted_.emplace(key, *std::move(predicted)).first;
  }
  current_->predicted = found->second;
}

void ComparisonRun::verify_trace() {
  TargetResult& result = current_->result;
  if (next_ == 0) prepare_sensitivity();
  if (!current_->predicted) predict_move();
  const AnswerSensitivity* const sensitivity = current_->predicted ? sensitivity_.get() : nullptr;
  const auto progress = [&](std::int64_t done, std::int64_t total) {
    report("verifying", done, total);
    host_.release_values();
    return !host_.stopped();
  };
  auto verification = verify(graph_, view_.model_sha256, *result.trace, threads_, progress, sensitivity);
  if (host_.stopped()) return;  // the next poll says so
  if (verification.ok()) {
    result.verification = *std::move(verification);
    if (sensitivity != nullptr)
      sensitivity->conclude(*current_->predicted, TraceView(*result.trace), *result.verification);
    else if (next_ == 0 && !no_sensitivity_.empty())
      result.verification->answer.emplace().left_out = no_sensitivity_;
  } else {
    result.error = std::move(verification).error();  // takes precedence: it knows the model
  }
  next_stage();
}

void ComparisonRun::compare_traces() {
  TargetResult& result = current_->result;
  auto comparison = compare(graph_, *view_.left.trace, *result.trace, [this] { host_.release_values(); });
  if (comparison.ok())
    result.comparison = *std::move(comparison);
  else
    current_->fail(std::move(comparison).error());
  host_.release_values();
  next_stage();
}

/// Starts what follows the stage that has ended, with or without an error.
void ComparisonRun::next_stage() {
  const TargetResult& result = current_->result;
  const bool is_file = current_->target.host == "file";
  switch (current_->stage) {
    case ComparisonStage::running:
      if (!result.trace) return finish_target();
      if (plan_.perturbation_check && !is_file)
        return begin_run(RunPurpose::outputs, ComparisonStage::checking_perturbation);
      [[fallthrough]];
    case ComparisonStage::checking_perturbation:
      if (plan_.verify) {
        current_->stage = ComparisonStage::verifying;
        return;
      }
      [[fallthrough]];
    case ComparisonStage::verifying:
      if (plan_.verify && next_ > 0 && view_.left.trace) {
        current_->stage = ComparisonStage::comparing;
        return;
      }
      [[fallthrough]];
    case ComparisonStage::comparing:
      if (plan_.measure_times && !is_file && result.trace) {
        if (result.verification) listener_.on_verified(next_, result);
        return begin_run(RunPurpose::times, ComparisonStage::measuring_times);
      }
      [[fallthrough]];
    case ComparisonStage::measuring_times:
      if (plan_.dataset && !is_file && result.verification) {
        listener_.on_verified(next_, result);
        current_->dataset.emplace(*plan_.dataset, next_);
        return begin_samples();
      }
      [[fallthrough]];
    case ComparisonStage::running_dataset:
      current_->dataset.reset();
      // Last: what is watched may need other processes than the runs before.
      if (plan_.watch_memory && !is_file && result.trace)
        return begin_run(RunPurpose::memory, ComparisonStage::watching_memory);
      [[fallthrough]];
    case ComparisonStage::watching_memory: return finish_target();
  }
}

void ComparisonRun::finish_target() {
  if (next_ == 0)
    view_.left = std::move(current_->result);
  else
    view_.right.push_back(std::move(current_->result));
  current_.reset();
  listener_.on_result(next_++);
  if (!plan_.keep_traces && !view_.right.empty()) view_.right.back().trace.reset();
}

}  // namespace driftscope
