#include "native/compare/deployment_runs.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/compare/comparison_run.hpp"
#include "native/compare/comparison_host.hpp"
#include "native/host/targets.hpp"

namespace driftscope {
namespace {

/// Shows the progress of the only target.
class StepListener final : public ComparisonListener {
 public:
  StepListener(std::string target, const DeploymentProgress& progress)
      : target_(std::move(target)), progress_(progress) {}
  void on_progress(std::size_t, ComparisonStage stage, std::string_view step, std::int64_t done,
                   std::int64_t total) override {
    const bool again = stage == ComparisonStage::watching_memory;
    progress_(fmt::format("{}: {}{}", target_, again ? "watching memory, " : "", step), done, total);
  }
  void on_result(std::size_t) override {}

 private:
  std::string target_;
  const DeploymentProgress& progress_;
};

/// A comparison of one target that judges nothing.
Result<Trace> run_once(const ModelFile& model, const ComparisonInputs& inputs, const std::string& target,
                       bool watch_memory, TargetRunner& runner, const DeploymentProgress& progress) {
  NativeComparisonHost host(model, inputs, runner);
  ThreadPool threads(1);
  StepListener listener(target, progress);
  ComparisonRun run(model.graph, {.targets = {target}, .verify = false, .watch_memory = watch_memory}, {},
                    host, threads, listener);
  while (true) {
    DRIFTSCOPE_TRY(const RunState state, run.poll());
    if (state == RunState::finished) break;
  }
  TargetResult result = run.take().left;
  if (result.error) return *std::move(result.error);
  return *std::move(result.trace);
}

std::vector<NamedRange> output_ranges(const Graph& graph, const Trace& trace) {
  std::vector<NamedRange> ranges;
  for (const ValueId output : graph.outputs) {
    const Tensor* const tensor = trace.find(graph.values[output].name);
    if (tensor == nullptr) continue;
    if (const auto range = range_of(*tensor)) ranges.push_back({graph.values[output].name, *range});
  }
  return ranges;
}

/// Of strict, value by value as they are computed: none is kept.
void see_ranges(const ModelFile& model, ComparisonInputs inputs, TargetRunner& runner,
                const DeploymentProgress& progress, DeployRuns& runs) {
  std::vector<NamedRange> ranges;
  for (const NamedTensor& input : inputs.inputs.tensors)
    if (const auto range = range_of(input.tensor)) ranges.push_back({input.name, *range});
  inputs.plan.capture = messages::Capture::all;
  inputs.sink = [&ranges](const std::string& name, const Tensor& tensor) -> Status {
    if (const auto range = range_of(tensor)) ranges.push_back({name, *range});
    return {};
  };
  const auto trace = run_once(model, inputs, default_target("strict"), false, runner, progress);
  if (!trace.ok()) {
    runs.no_layers = trace.error().message;
    return;
  }
  runs.layers = layer_ranges(model.graph, ranges);
  runs.outputs = output_ranges(model.graph, *trace);
}

}  // namespace

Result<DeployRuns> run_deployment(const ModelFile& model, const DeploymentRunRequest& request,
                                  const DeploymentProgress& progress) {
  ComparisonInputs inputs;
  DRIFTSCOPE_TRY(inputs.inputs, read_inputs(request.inputs, model));
  inputs.plan.repeat = 1;
  inputs.plan.capture = messages::Capture::outputs;
  inputs.memory_runs = request.memory_runs;
  DeployRuns runs{.input = inputs.inputs.text};
  TargetRunner runner(request.runner);
  see_ranges(model, inputs, runner, progress, runs);
  for (const std::string& target : request.targets) {
    DeployRun run{.target = target};
    const auto trace = run_once(model, inputs, target, request.memory_runs > 0, runner, progress);
    if (trace.ok()) {
      run.outputs = output_ranges(model.graph, *trace);
      run.memory = memory_over_runs_of(*trace);
    } else {
      run.failure = trace.error();
    }
    runs.targets.push_back(std::move(run));
  }
  return runs;
}

}  // namespace driftscope
