#include "native/gui/comparison_run.hpp"

#include "core/platform/platform.hpp"
#include "native/compare/comparison_host.hpp"

namespace driftscope {
namespace {

using State = gui::TargetProgress::State;

/// Shows progress and results as they come.
class Shown final : public ComparisonListener {
 public:
  Shown(const WindowComparison& wanted, const ComparisonCallbacks& callbacks)
      : graph_(wanted.model->graph), callbacks_(callbacks) {
    for (const std::string& target : wanted.choice.targets) progress_.emplace_back().target = target;
    callbacks_.progress(progress_);
  }

  void follow(const ComparisonRun& run) { run_ = &run; }

  void on_progress(std::size_t target, ComparisonStage stage, std::string_view step, std::int64_t done,
                   std::int64_t total) override {
    gui::TargetProgress& now = progress_[target];
    now.state = State::running;
    now.step = stage == ComparisonStage::running_dataset         ? std::string(step) + " the data set"
               : stage == ComparisonStage::checking_perturbation ? std::string(step) + ", outputs alone"
                                                                 : std::string(step);
    now.done = done;
    now.total = total;
    callbacks_.progress(progress_);
  }

  void on_result(std::size_t target) override {
    const ComparisonView& view = run_->view();
    const TargetResult& result = target == 0 ? view.left : view.right.back();
    progress_[target].state = result.error ? State::failed : State::done;
    progress_[target].error = result.error ? result.error->message : std::string();
    callbacks_.progress(progress_);
    callbacks_.result(gui::make_snapshot(gui::parts_of(view, graph_)));
  }

 private:
  const Graph& graph_;
  const ComparisonCallbacks& callbacks_;
  const ComparisonRun* run_ = nullptr;
  std::vector<gui::TargetProgress> progress_;
};

}  // namespace

Status run_comparison(const WindowComparison& wanted, TargetRunner& runner,
                      const ComparisonCallbacks& callbacks) {
  const ModelFile& model = *wanted.model;
  ComparisonInputs inputs;
  if (wanted.kept_inputs) {
    inputs.inputs = *wanted.kept_inputs;
  } else {
    DRIFTSCOPE_TRY(inputs.inputs, read_inputs(wanted.inputs, model));
  }
  if (!wanted.dataset.empty()) {
    DRIFTSCOPE_TRY(inputs.dataset.emplace(), read_dataset(wanted.dataset, model));
  }
  if (wanted.choice.repeat_check) {
    inputs.plan.repeat = gui::repeat_check_runs;
    inputs.plan.compare_runs = true;
  } else {
    inputs.plan.settle_ms = settle_time.count();
  }
  inputs.plan.unwatched_ms = unwatched_time.count();
  if (!wanted.choice.watch_memory) inputs.memory_runs = 0;
  inputs.on_devices = {.compare_runs = true, .memory = true};
  inputs.stopped = callbacks.stopped;
  std::vector<Target> targets;
  for (const std::string& text : wanted.choice.targets)
    if (auto target = parse_target(text); target.ok()) targets.push_back(*std::move(target));
  Shown shown(wanted, callbacks);
  ThreadPool threads(usable_processors());
  NativeComparisonHost host(model, inputs, runner);
  ComparisonRun run(model.graph,
                    {.targets = wanted.choice.targets,
                     .perturbation_check = wanted.choice.perturbation_check,
                     .watch_memory = watches_memory(inputs, targets),
                     .dataset = dataset_plan(inputs),
                     .sensitivity = SensitivityWanted::when_cheap},
                    describe_comparison(model, inputs), host, threads, shown);
  shown.follow(run);
  while (true) {
    DRIFTSCOPE_TRY(const RunState state, run.poll());
    if (state == RunState::finished) return {};
  }
}

}  // namespace driftscope
