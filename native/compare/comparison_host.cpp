#include "native/compare/comparison_host.hpp"

#include "native/host/sample_files.hpp"

namespace driftscope {
namespace {

/// Runs to the end in its first poll.
class BlockingRun final : public TargetRun {
 public:
  BlockingRun(TargetRunner& runner, Target target, RunRequest request)
      : runner_(runner), target_(std::move(target)), request_(std::move(request)) {}

  Result<RunState> poll(const StepProgress& progress) override {
    DRIFTSCOPE_TRY(trace_, runner_.run(target_, request_, progress));
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

NativeComparisonHost::NativeComparisonHost(const ModelFile& model, const ComparisonInputs& inputs,
                                           TargetRunner& runner)
    : model_(model), inputs_(inputs), runner_(runner) {}

NativeComparisonHost::~NativeComparisonHost() { runner_.rest(); }

RunRequest NativeComparisonHost::request_for(RunPurpose purpose) const {
  RunRequest request;
  request.model = &model_;
  request.stopped = inputs_.stopped;
  switch (purpose) {
    case RunPurpose::dataset:
      request.inputs = inputs_.dataset->stacked;
      request.plan.samples = inputs_.dataset->samples;
      request.plan.capture = messages::Capture::outputs;
      break;
    case RunPurpose::outputs:
      request.inputs = inputs_.inputs.tensors;
      request.plan.capture = messages::Capture::outputs;
      break;
    case RunPurpose::layers:
      request.inputs = inputs_.inputs.tensors;
      request.plan = inputs_.plan;
      break;
  }
  return request;
}

Result<std::unique_ptr<TargetRun>> NativeComparisonHost::start(const Target& target, RunPurpose purpose) {
  return std::unique_ptr<TargetRun>(new BlockingRun(runner_, target, request_for(purpose)));
}

bool NativeComparisonHost::stopped() const { return inputs_.stopped && inputs_.stopped(); }

ComparisonView describe_comparison(const ModelFile& model, const ComparisonInputs& inputs) {
  ComparisonView view;
  view.model_name = model.path.filename().string();
  view.model_sha256 = model.sha256;
  view.input_text = inputs.inputs.text;
  view.input_label = inputs.inputs.label;
  view.class_names = class_names(model);
  if (inputs.dataset) view.dataset_text = inputs.dataset->text;
  return view;
}

std::optional<DatasetPlan> dataset_plan(const ComparisonInputs& inputs) {
  if (!inputs.dataset) return std::nullopt;
  return DatasetPlan{inputs.dataset->samples, inputs.dataset->labels};
}

}  // namespace driftscope
