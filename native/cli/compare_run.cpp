#include "native/cli/compare_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/sha256.hpp"
#include "core/inputs/input_sizes.hpp"
#include "core/platform/platform.hpp"
#include "native/bench/build_id.hpp"
#include "native/bench/machine.hpp"
#include "native/campaign/store_kinds.hpp"
#include "native/cli/result_store.hpp"
#include "native/host/causal_test.hpp"
#include "native/host/service_run.hpp"
#include "native/host/targets.hpp"

namespace driftscope {
namespace {

/// " --input seed:42 --dim time=16000", of specs as read_inputs takes them.
std::string input_arguments(const std::vector<std::string>& specs) {
  std::string text;
  for (const std::string& spec : specs) {
    const bool size = is_size_spec(spec);
    text += !size ? " --input " : spec.starts_with(dim_prefix) ? " --dim " : " --input-shape ";
    text += shell_quote(size ? spec.substr(spec.find(':') + 1) : spec);
  }
  return text;
}

std::string sensitivity_arguments(SensitivityWanted wanted) {
  switch (wanted) {
    case SensitivityWanted::always: return " --sensitivity";
    case SensitivityWanted::never: return " --no-sensitivity";
    case SensitivityWanted::when_cheap: break;
  }
  return "";
}

/// Every option that affects the result, including defaults and sizes that were found: it must reproduce the
/// same in a year.
std::string command_line(const CompareRequest& request, const GivenInputs& given, const ModelFile& model,
                         const Target& left, const std::vector<Target>& right) {
  std::string text = "driftscope compare " + shell_quote(model.path.string());
  if (std::ranges::all_of(request.inputs, is_size_spec) && (!request.kept_inputs || !request.inputs.empty()))
    text += " --input seed:42";
  text += input_arguments(request.inputs) + input_arguments(given.found_sizes);
  if (!request.dataset.empty()) text += " --dataset " + shell_quote(request.dataset);
  if (!request.store.empty()) text += " --store " + shell_quote(shown_store(request.store));
  if (request.trace != "all") text += " --trace " + request.trace;
  text += capture_text(request.capture);
  text += " --left " + shell_quote(left.text()) + " --right ";
  std::string targets;
  for (const Target& target : right) targets += (targets.empty() ? "" : ",") + target.text();
  return text + shell_quote(targets) +
         (request.repeat > 0 ? fmt::format(" --repeat {}", request.repeat) : "") +
         sensitivity_arguments(request.sensitivity) + (request.matters ? " --matters" : "") +
         (request.times != CompareRequest().times ? fmt::format(" --times {}", request.times) : "");
}

}  // namespace

std::string shell_quote(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

CompareCommand::CompareCommand(const CompareRequest& request, const ModelFile& model)
    : request_(request),
      model_(model),
      own_runner_(std::make_unique<TargetRunner>(request.runner)),
      runner_(*own_runner_),
      line_(request.quiet) {}

CompareCommand::CompareCommand(const CompareRequest& request, const ModelFile& model, TargetRunner& runner)
    : request_(request), model_(model), runner_(runner), line_(request.quiet) {}

Status CompareCommand::read_samples() {
  if (!request_.dataset.empty()) {
    DRIFTSCOPE_TRY(inputs_.dataset.emplace(), read_dataset(request_.dataset, model_));
  }
  if (request_.kept_inputs && request_.inputs.empty()) {
    inputs_.inputs = *request_.kept_inputs;
  } else {
    DRIFTSCOPE_TRY(inputs_.inputs, read_inputs(request_.inputs, model_));
  }
  DRIFTSCOPE_TRY(inputs_.plan.values, captured_values(model_.graph, request_.capture));
  inputs_.plan.repeat = std::max<std::int64_t>(1, request_.repeat);
  inputs_.plan.compare_runs = request_.capture.repeat_check > 0;
  if (inputs_.plan.compare_runs)
    inputs_.plan.repeat = std::max<std::int64_t>(inputs_.plan.repeat, request_.capture.repeat_check);
  else if (request_.repeat == 0)
    inputs_.plan.settle_ms = settle_time.count();
  inputs_.plan.unwatched_ms = std::llround(request_.times * 1e3);
  inputs_.memory_runs = request_.capture.memory_runs;
  inputs_.on_devices = device_checks(request_.capture);
  // Who asks for a single run gets one.
  if (request_.repeat == 1) inputs_.on_devices.compare_runs = false;
  inputs_.plan.capture = messages::named<messages::Capture>(request_.trace).value_or(messages::Capture::all);
  return {};
}

Result<std::optional<DatasetPlan>> CompareCommand::plan_dataset(const std::vector<Target>& targets) {
  std::optional<DatasetPlan> plan = dataset_plan(inputs_);
  if (!plan || request_.store.empty()) return plan;
  const std::string hashes = hashes_of(model_) + hashes_of(inputs_.dataset->stacked);
  const nlohmann::json fields = {{"model", model_.name},
                                 {"dataset", inputs_.dataset->text},
                                 {"samples", inputs_.dataset->samples},
                                 {"sha256", sha256_hex(std::as_bytes(std::span(hashes)))}};
  DRIFTSCOPE_TRY(store_, open_result_store(request_.store, "dataset", fields, request_.runner.site));
  plan->store = store_.get();
  plan->names_in_store = names_in_store(targets, request_.runner);
  return plan;
}

Result<ComparisonView> CompareCommand::run(const Target& left, const std::vector<Target>& right) {
  std::vector<Target> targets = {left};
  targets.insert(targets.end(), right.begin(), right.end());
  DRIFTSCOPE_TRY(auto dataset, plan_dataset(targets));
  ComparisonView about = describe_comparison(model_, inputs_);
  about.command = command_line(request_, inputs_.inputs, model_, left, right);
  about.build = build_id();
  about.machine = describe_machine().json;
  for (const Target& target : targets) targets_.push_back(target.text());
  ThreadPool threads(usable_processors());
  NativeComparisonHost host(model_, inputs_, runner_);
  ComparisonRun comparison(model_.graph,
                           {.targets = targets_,
                            .perturbation_check = request_.capture.perturbation_check,
                            .watch_memory = watches_memory(inputs_, targets),
                            .dataset = std::move(dataset),
                            .sensitivity = request_.sensitivity},
                           std::move(about), host, threads, *this);
  // Ctrl-C ends the program (native/os/cleanup.hpp), so the comparison itself is never stopped.
  while (true) {
    const auto state = comparison.poll();
    if (!state.ok() || *state == RunState::finished) break;
  }
  line_.clear();
  ComparisonView view = comparison.take();
  if (request_.matters) test_causes(view, threads);
  return view;
}

void CompareCommand::test_causes(ComparisonView& view, ThreadPool& threads) {
  const auto test = [&](TargetResult& result) {
    if (!result.verification || !result.trace) return;
    const auto target = read_target(result.target);
    if (!target.ok() || target->host == "file") return;
    CausalTester tester(model_, *result.trace, *target, runner_, threads,
                        [&](std::string_view step, std::int64_t done, std::int64_t total) {
                          line_.update(
                              fmt::format("{}{}, with layers right: {}", request_.about, result.target, step),
                              done, total);
                        });
    auto tested = tester.test(*result.verification);
    line_.clear();
    if (!tested.ok()) print_error(in_context(std::move(tested).error(), "--matters, " + result.target));
  };
  test(view.left);
  for (TargetResult& right : view.right) test(right);
}

// Before it a browser starts. A load that is shorter than the time between two looks is at most that long.
// Later runs (stages) of a target load it again.
void CompareCommand::note_load(std::size_t target, ComparisonStage stage, std::string_view step) {
  if (loads_.size() <= target) {
    loads_.resize(target + 1);
    handed_over_.reset();
    last_look_.reset();
  }
  if (stage != ComparisonStage::running || loads_[target]) return;
  const auto now = std::chrono::steady_clock::now();
  if (step == running_step || step == timing_step) {
    if (const auto begin = handed_over_ ? handed_over_ : last_look_) loads_[target] = now - *begin;
  } else if (!handed_over_ && step != "starting the browser" && step != "page opened") {
    handed_over_ = now;
  }
  last_look_ = now;
}

void CompareCommand::on_progress(std::size_t target, ComparisonStage stage, std::string_view step,
                                 std::int64_t done, std::int64_t total) {
  note_load(target, stage, step);
  line_.update(fmt::format("{}{}: {}", request_.about, targets_[target], step), done, total);
}

Exit print_failed_targets(const ComparisonView& view) {
  Exit exit = Exit::ok;
  const auto look = [&](const TargetResult& result) {
    if (!result.error) return;
    print_error(in_context(*result.error, result.target));
    exit = exit_of(*result.error);
  };
  look(view.left);
  for (const TargetResult& right : view.right) look(right);
  return exit;
}

}  // namespace driftscope
