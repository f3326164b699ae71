#include "native/gui/comparison_run.hpp"

#include "core/platform/platform.hpp"
#include "core/verify/compare.hpp"
#include "native/host/dataset_run.hpp"
#include "native/host/sample_files.hpp"

namespace driftscope {
namespace {

using State = gui::TargetProgress::State;

class ComparisonInProgress {
 public:
  ComparisonInProgress(const ComparisonPlan& plan, TargetRunner& runner, const ComparisonCallbacks& callbacks)
      : plan_(plan),
        model_(*plan.model),
        runner_(runner),
        callbacks_(callbacks),
        threads_(usable_processors()) {}

  Status run() {
    DRIFTSCOPE_TRY(given_, read_inputs(plan_.inputs, model_));
    if (!plan_.dataset.empty()) {
      DRIFTSCOPE_TRY(dataset_.emplace(), read_dataset(plan_.dataset, model_));
    }
    parts_.title = model_.path.filename().string();
    parts_.model_sha256 = model_.sha256;
    parts_.input_text = given_.text;
    parts_.input_label = given_.label;
    parts_.class_names = class_names(model_);
    parts_.topology = topology_of(model_.graph);
    if (dataset_) parts_.dataset_text = dataset_->text;
    for (const std::string& target : plan_.targets) {
      gui::TargetProgress one;
      one.target = target;
      progress_.push_back(std::move(one));
    }
    callbacks_.progress(progress_);
    for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
      const auto target = parse_target(plan_.targets[i]);
      // One that cannot be read is a failed target; the others go on.
      gui::TargetParts result;
      if (target.ok()) {
        result = run_one(*target, i);
      } else {
        result.target = plan_.targets[i];
        result.error = target.error().message;
      }
      if (callbacks_.stopped()) return Error{ErrorKind::cancelled, "stopped"};
      progress_[i].state = result.error.empty() ? State::done : State::failed;
      progress_[i].error = result.error;
      callbacks_.progress(progress_);
      parts_.targets.push_back(std::move(result));
      callbacks_.result(gui::make_snapshot(parts_));
    }
    return {};
  }

 private:
  void tell(std::size_t place, std::string_view step, std::int64_t done, std::int64_t total) {
    gui::TargetProgress& now = progress_[place];
    now.state = State::running;
    now.step = step;
    now.done = done;
    now.total = total;
    callbacks_.progress(progress_);
  }

  gui::TargetParts run_one(const Target& target, std::size_t place) {
    gui::TargetParts result;
    result.target = target.text();
    const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      tell(place, step, done, total);
    };
    RunRequest request;
    request.model = &model_;
    request.inputs = given_.tensors;
    request.repeat = plan_.repeat;
    request.stopped = callbacks_.stopped;
    auto trace = runner_.run(target, request, progress);
    if (!trace.ok()) return result.error = trace.error().message, result;
    auto verification =
        verify(model_.graph, model_.sha256, *trace, threads_, [&](std::int64_t done, std::int64_t total) {
          progress("judging", done, total);
          return !callbacks_.stopped();
        });
    if (verification.ok()) {
      result.verification = *std::move(verification);
    } else {
      result.error = verification.error().message;
    }
    const Trace* left = parts_.targets.empty() || !parts_.targets.front().tensors
                            ? nullptr
                            : parts_.targets.front().tensors->in_memory();
    if (left != nullptr) {
      auto comparison = compare(model_.graph, *left, *trace);
      if (comparison.ok())
        result.comparison = *std::move(comparison);
      else if (result.error.empty())
        result.error = comparison.error().message;
    }
    result.tensors = gui::RecordedTensors::of(*std::move(trace));
    if (dataset_ && !callbacks_.stopped()) {
      const auto all = [&](std::string_view step, std::int64_t done, std::int64_t total) {
        progress(std::string(step) + " the data set", done, total);
      };
      auto run = run_dataset(runner_, target, model_, *dataset_, all);
      if (run.ok())
        result.dataset = std::move(run->result);
      else if (result.error.empty())
        result.error = run.error().message;
    }
    return result;
  }

  const ComparisonPlan& plan_;
  const ModelFile& model_;
  TargetRunner& runner_;
  const ComparisonCallbacks& callbacks_;
  ThreadPool threads_;
  GivenInputs given_;
  std::optional<GivenDataset> dataset_;
  gui::SnapshotParts parts_;
  std::vector<gui::TargetProgress> progress_;
};

}  // namespace

Status run_comparison(const ComparisonPlan& plan, TargetRunner& runner,
                      const ComparisonCallbacks& callbacks) {
  return ComparisonInProgress(plan, runner, callbacks).run();
}

}  // namespace driftscope
