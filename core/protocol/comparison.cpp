#include "core/protocol/comparison.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/json.hpp"
#include "core/protocol/error_message.hpp"
#include "core/results/view_json.hpp"
#include "core/trace/trace_file.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {
namespace {

messages::RunPurpose purpose_of(RunPurpose purpose) {
  switch (purpose) {
    case RunPurpose::layers: return messages::RunPurpose::layers;
    case RunPurpose::outputs: return messages::RunPurpose::outputs;
    case RunPurpose::times: return messages::RunPurpose::times;
    case RunPurpose::memory: return messages::RunPurpose::memory;
    case RunPurpose::dataset: break;
  }
  return messages::RunPurpose::dataset;
}

Result<std::optional<DatasetPlan>> dataset_of(const messages::Compare& request) {
  if (!request.samples) return std::optional<DatasetPlan>();
  DatasetPlan plan{*request.samples, request.labels.value_or(std::vector<std::int64_t>())};
  if (request.labels && static_cast<std::int64_t>(plan.labels.size()) != plan.samples)
    return bad_input(
        fmt::format("request \"compare\": field \"labels\": expected {} classes, one per sample, got {}",
                    plan.samples, plan.labels.size()));
  return std::optional(std::move(plan));
}

ComparisonView view_of(const LoadedModel& model) {
  ComparisonView view;
  view.model_sha256 = model.sha256;
  return view;
}

/// The view's results for a target, without what it recorded.
TargetResult without_tensors(const TargetResult& result) {
  std::optional<Trace> about;
  if (result.trace) {
    about.emplace();
    about->model_sha256 = result.trace->model_sha256;
    about->target = result.trace->target;
    about->run = result.trace->run;
    about->memory = result.trace->memory;
  }
  return {.target = result.target,
          .trace = std::move(about),
          .verification = result.verification,
          .comparison = result.comparison,
          .dataset = result.dataset,
          .error = result.error};
}

}  // namespace

/// A run that happens elsewhere, and how it ended; shared by the run and the receiver of "advance".
struct ServiceComparison::Awaited {
  std::int64_t id = 0;
  std::optional<Trace> trace = {};
  std::optional<Error> error = {};
  [[nodiscard]] bool ended() const { return trace || error; }
};

class ServiceComparison::Run final : public TargetRun {
 public:
  explicit Run(std::shared_ptr<Awaited> awaited) : awaited_(std::move(awaited)) {}
  [[nodiscard]] Result<RunState> poll(const StepProgress& /*progress*/) override {
    if (awaited_->error) return *awaited_->error;
    return awaited_->trace ? RunState::finished : RunState::waiting;
  }
  [[nodiscard]] Trace take() override { return *std::move(awaited_->trace); }

 private:
  std::shared_ptr<Awaited> awaited_;
};

ServiceComparison::ServiceComparison(const LoadedModel& model, ComparisonPlan plan, int threads)
    : graph_(model.graph),
      threads_(threads),
      comparison_(*graph_, std::move(plan), view_of(model), *this, threads_, *this) {}

Result<std::unique_ptr<ServiceComparison>> ServiceComparison::begin(const messages::Compare& request,
                                                                    const LoadedModel& model) {
  ComparisonPlan plan;
  plan.sensitivity = SensitivityWanted::when_cheap;
  plan.keep_traces = false;  // they stay where they were recorded
  plan.targets = request.targets;
  if (plan.targets.empty())
    return bad_input("request \"compare\": field \"targets\": expected the left target and others, got none");
  plan.perturbation_check = request.perturbation_check;
  plan.measure_times = request.measure_times;
  plan.watch_memory = request.watch_memory;
  DRIFTSCOPE_TRY(plan.dataset, dataset_of(request));
  return std::unique_ptr<ServiceComparison>(
      new ServiceComparison(model, std::move(plan), static_cast<int>(request.threads)));
}

// Without a store all samples of a data set run at once, so the answer need not name them.
Result<std::unique_ptr<TargetRun>> ServiceComparison::start(const Target& target, RunPurpose purpose,
                                                            std::span<const std::int64_t> /*samples*/) {
  awaited_ = std::make_shared<Awaited>(Awaited{.id = ++last_run_});
  answer_.head.run = {awaited_->id, static_cast<std::int64_t>(next_target_), target.text(),
                      purpose_of(purpose)};
  return std::unique_ptr<TargetRun>(new Run(awaited_));
}

Status ServiceComparison::take_end_of_run(const messages::Advance& request,
                                          std::span<const std::byte> payload) {
  if (!request.run) return {};
  if (!awaited_ || awaited_->id != *request.run || awaited_->ended())
    return bad_input(fmt::format("request \"advance\": field \"run\": no run {} is under way", *request.run));
  if (request.error) {
    awaited_->error = error_of(*request.error);
    return {};
  }
  auto trace = read_trace(payload);
  if (trace.ok())
    awaited_->trace = *std::move(trace);
  else
    awaited_->error = in_context(std::move(trace).error(), "the trace");
  return {};
}

Result<ServiceComparison::Advanced> ServiceComparison::advance(const messages::Advance& request,
                                                               std::span<const std::byte> payload) {
  DRIFTSCOPE_CHECK(take_end_of_run(request, payload));
  answer_ = {};
  DRIFTSCOPE_TRY(const RunState state, comparison_.poll());
  answer_.head.finished = state == RunState::finished;
  answer_.head.waiting = state == RunState::waiting;
  return std::move(answer_);
}

void ServiceComparison::on_verified(std::size_t target, const TargetResult& result) {
  report(target, result, false);
}

void ServiceComparison::on_result(std::size_t target) {
  const ComparisonView& view = comparison_.view();
  report(target, target == 0 ? view.left : view.right[target - 1], true);
  next_target_ = target + 1;
}

void ServiceComparison::report(std::size_t target, const TargetResult& result, bool done) {
  const TargetResult& left = comparison_.view().left;
  ComparisonView said;
  if (target > 0 && left.trace) {
    said.left.target = left.target;
    said.left.dataset = left.dataset;
    said.right.push_back(without_tensors(result));
  } else {
    said.left = without_tensors(result);
  }
  messages::TargetResult& reported = answer_.head.result.emplace();
  reported.place = static_cast<std::int64_t>(target);
  reported.done = done;
  reported.recorded = result.trace.has_value();
  if (result.error) reported.error = error_message(*result.error);
  answer_.comparison = view_json(said);
}

}  // namespace driftscope
