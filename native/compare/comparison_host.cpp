#include "native/compare/comparison_host.hpp"

#include <algorithm>

#include "core/inputs/found_inputs.hpp"
#include "core/inputs/input_source.hpp"
#include "native/bench/open_subject.hpp"
#include "native/browser/remote_device.hpp"
#include "native/host/sample_files.hpp"
#include "native/host/service_run.hpp"
#include "native/os/free_memory.hpp"

namespace driftscope {
namespace {

/// Runs to the end in its first poll.
class BlockingRun final : public TargetRun {
 public:
  BlockingRun(TargetRunner& runner, Target target, RunRequest request, std::optional<ChosenInputs> chosen)
      : runner_(runner),
        target_(std::move(target)),
        request_(std::move(request)),
        chosen_(std::move(chosen)) {}

  Result<RunState> poll(const StepProgress& progress) override {
    std::string last;
    // What the recorded run has freed must not lie beside what the one that is timed needs.
    const auto and_free = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      if (step != last) give_back_free_memory();
      last = step;
      progress(step, done, total);
    };
    DRIFTSCOPE_TRY(trace_, runner_.run(target_, request_, and_free));
    if (chosen_) add_chosen_inputs(trace_, *chosen_);
    return RunState::finished;
  }
  Trace take() override { return std::move(trace_); }

 private:
  TargetRunner& runner_;
  Target target_;
  RunRequest request_;
  std::optional<ChosenInputs> chosen_;
  Trace trace_;
};

/// The same, with the recorded values in a file.
class SpillingRun final : public TargetRun {
 public:
  SpillingRun(TargetRunner& runner, Target target, RunRequest request, std::optional<ChosenInputs> chosen,
              SpilledValues& values)
      : run_(runner, std::move(target), with_sink(std::move(request), values), std::move(chosen)) {}

  Result<RunState> poll(const StepProgress& progress) override { return run_.poll(progress); }
  Trace take() override {
    Trace trace = run_.take();
    if (!tensors_.empty()) trace.tensors = std::move(tensors_);  // else the host gives them at the end
    return trace;
  }

 private:
  RunRequest with_sink(RunRequest request, SpilledValues& values) {
    request.sink = [this, &values](const std::string& name, const Tensor& tensor) -> Status {
      DRIFTSCOPE_TRY(Tensor spilled, values.put(tensor));
      tensors_.push_back({name, std::move(spilled)});
      return Status();
    };
    return request;
  }

  std::vector<NamedTensor> tensors_;
  BlockingRun run_;
};

/// In processes of its own, whose memory is seen; on hosts whose processes are not, the service sees its own.
class MemoryRun final : public TargetRun {
 public:
  MemoryRun(TargetRunner& runner, Target target, MemoryRunsRequest request, RunRequest inside,
            SiteServers& servers, std::function<bool()> stopped)
      : runner_(runner),
        target_(std::move(target)),
        request_(std::move(request)),
        inside_(std::move(inside)),
        servers_(servers),
        stopped_(std::move(stopped)) {}

  Result<RunState> poll(const StepProgress& progress) override {
    if (can_be_measured(target_)) {
      runner_.rest();  // its browser would be a load beside the one that is watched
      auto memory = watch_memory(target_, request_, servers_, stopped_, progress);
      if (!memory.ok()) return in_context(std::move(memory).error(), "watching memory");
      add_memory_over_runs(trace_, *memory);
      return RunState::finished;
    }
    const auto inside = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      progress(step == timing_step ? "watching memory" : step, done, total);
    };
    auto trace = runner_.run(target_, inside_, inside);
    if (!trace.ok()) return in_context(std::move(trace).error(), "watching memory");
    trace_ = *std::move(trace);
    return RunState::finished;
  }
  Trace take() override { return std::move(trace_); }

 private:
  TargetRunner& runner_;
  Target target_;
  MemoryRunsRequest request_;
  RunRequest inside_;
  SiteServers& servers_;
  std::function<bool()> stopped_;
  Trace trace_;
};

/// Of a target whose memory is not watched, beside one whose is.
class NoRun final : public TargetRun {
 public:
  Result<RunState> poll(const StepProgress& /*progress*/) override { return RunState::finished; }
  Trace take() override { return {}; }
};

bool watches_device(const ComparisonInputs& inputs, const Target& target) {
  return inputs.memory_runs <= 0 && inputs.on_devices.memory && is_remote(target);
}

}  // namespace

bool watches_memory(const ComparisonInputs& inputs, std::span<const Target> targets) {
  return inputs.memory_runs > 0 ||
         std::ranges::any_of(targets, [&](const Target& target) { return watches_device(inputs, target); });
}

// Times of layers are then those of few runs, and may not have settled; the time of the whole model, which
// is measured unwatched, does not change.
messages::RunPlan plan_on(const Target& target, const ComparisonInputs& inputs) {
  messages::RunPlan plan = inputs.plan;
  if (!inputs.on_devices.compare_runs || plan.compare_runs || !is_remote(target)) return plan;
  if (plan.repeat < 2) plan.repeat = device_repeats;
  plan.settle_ms = 0;
  plan.compare_runs = true;
  return plan;
}

NativeComparisonHost::NativeComparisonHost(const ModelFile& model, const ComparisonInputs& inputs,
                                           TargetRunner& runner)
    : model_(model), inputs_(inputs), runner_(runner) {}

NativeComparisonHost::~NativeComparisonHost() { runner_.rest(); }

RunRequest NativeComparisonHost::request_for(const Target& target, RunPurpose purpose) const {
  RunRequest request;
  request.model = &model_;
  request.stopped = inputs_.stopped;
  switch (purpose) {
    case RunPurpose::dataset: request.plan.capture = messages::Capture::outputs; break;
    case RunPurpose::memory: request.plan.memory_runs = inputs_.memory_runs; [[fallthrough]];
    case RunPurpose::outputs:
      request.inputs = inputs_.inputs.tensors;
      request.plan.capture = messages::Capture::outputs;
      break;
    case RunPurpose::times:
      request.inputs = inputs_.inputs.tensors;
      request.plan = inputs_.plan;
      request.plan.values.emplace();
      break;
    case RunPurpose::layers:
      request.inputs = inputs_.inputs.tensors;
      request.plan = plan_on(target, inputs_);
      request.sink = inputs_.sink;
      break;
  }
  return request;
}

Result<RunRequest> NativeComparisonHost::request_for_samples(const Target& target,
                                                             std::span<const std::int64_t> samples) const {
  const GivenDataset& dataset = *inputs_.dataset;
  RunRequest request = request_for(target, RunPurpose::dataset);
  request.plan.samples = std::ssize(samples);
  if (std::ssize(samples) == dataset.samples) {
    request.inputs = dataset.stacked;
  } else {
    DRIFTSCOPE_TRY(request.inputs, chosen_items(dataset.stacked, samples));
  }
  return request;
}

Result<std::unique_ptr<TargetRun>> NativeComparisonHost::start(const Target& target, RunPurpose purpose,
                                                               std::span<const std::int64_t> samples) {
  give_back_free_memory();
  if (purpose == RunPurpose::dataset) {
    DRIFTSCOPE_TRY(RunRequest request, request_for_samples(target, samples));
    return std::unique_ptr<TargetRun>(new BlockingRun(runner_, target, std::move(request), std::nullopt));
  }
  if (purpose == RunPurpose::memory) return watch_memory_of(target);
  // A file that was recorded earlier has inputs of its own.
  const bool made_here = target.host != "file";
  const auto chosen = made_here ? inputs_.inputs.chosen : std::nullopt;
  if (purpose == RunPurpose::layers && !inputs_.sink && made_here)
    return std::unique_ptr<TargetRun>(
        new SpillingRun(runner_, target, request_for(target, purpose), chosen, values_));
  return std::unique_ptr<TargetRun>(new BlockingRun(runner_, target, request_for(target, purpose), chosen));
}

std::unique_ptr<TargetRun> NativeComparisonHost::watch_memory_of(const Target& target) {
  if (watches_device(inputs_, target))
    return device_memory_run(runner_, target, request_for(target, RunPurpose::outputs));
  if (inputs_.memory_runs <= 0) return std::make_unique<NoRun>();
  MemoryRunsRequest request;
  request.model = &model_;
  request.inputs = inputs_.inputs.tensors;
  request.runs = inputs_.memory_runs;
  request.runner = runner_.options();
  return std::make_unique<MemoryRun>(runner_, target, std::move(request),
                                     request_for(target, RunPurpose::memory), memory_servers_,
                                     [this] { return stopped(); });
}

// Giving back takes a call for each value.
void NativeComparisonHost::release_values() {
  constexpr std::chrono::milliseconds interval{100};
  const auto now = std::chrono::steady_clock::now();
  if (now - released_ < interval) return;
  values_.release();
  model_.bytes.release();
  for (const JobAttachment& file : model_.attachments) file.bytes.release();
  give_back_free_memory();
  released_ = std::chrono::steady_clock::now();
}

bool NativeComparisonHost::stopped() const { return inputs_.stopped && inputs_.stopped(); }

ComparisonView describe_comparison(const ModelFile& model, const ComparisonInputs& inputs) {
  ComparisonView view;
  view.model_name = model.name;
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
