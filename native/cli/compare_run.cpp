#include "native/cli/compare_run.hpp"

#include <fmt/format.h>

#include "core/platform/platform.hpp"
#include "native/bench/build_id.hpp"
#include "native/bench/machine.hpp"
#include "native/host/sample_files.hpp"

namespace driftscope {
namespace {

/// Every option that decides what comes out, defaults as well: it must mean the same in a year.
std::string command_line(const CompareRequest& request, const ModelFile& model, const Target& left,
                         const std::vector<Target>& right) {
  std::string text = "driftscope compare " + shell_quote(model.path.string());
  for (const std::string& input : request.inputs) text += " --input " + shell_quote(input);
  if (request.inputs.empty()) text += " --input seed:42";
  if (!request.dataset.empty()) text += " --dataset " + shell_quote(request.dataset);
  if (request.trace != "all") text += " --trace " + request.trace;
  text += capture_text(request.capture);
  text += " --left " + shell_quote(left.text()) + " --right ";
  std::string targets;
  for (const Target& target : right) targets += (targets.empty() ? "" : ",") + target.text();
  return text + shell_quote(targets) + fmt::format(" --repeat {}", request.repeat);
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

CompareRun::CompareRun(const CompareRequest& request, const ModelFile& model)
    : request_(request),
      model_(model),
      runner_(request.runner),
      line_(request.quiet),
      threads_(usable_processors()) {}

Status CompareRun::read_samples() {
  if (!request_.dataset.empty()) {
    DRIFTSCOPE_TRY(dataset_.emplace(), read_dataset(request_.dataset, model_));
    view_.dataset_text = dataset_->text;
  }
  DRIFTSCOPE_TRY(given_, read_inputs(request_.inputs, model_));
  DRIFTSCOPE_TRY(values_, captured_values(model_.graph, request_.capture));
  view_.model_name = model_.path.filename().string();
  view_.model_sha256 = model_.sha256;
  view_.input_text = given_.text;
  view_.input_label = given_.label;
  view_.class_names = class_names(model_);
  return {};
}

void CompareRun::run(const Target& left, const std::vector<Target>& right) {
  view_.command = command_line(request_, model_, left, right);
  view_.build = build_id();
  view_.machine = describe_machine().json;
  view_.left = run_one(left);
  for (const Target& target : right) {
    TargetResult result = run_one(target);
    if (result.trace && view_.left.trace) {
      auto comparison = compare(model_.graph, *view_.left.trace, *result.trace);
      if (comparison.ok()) {
        result.comparison = *std::move(comparison);
      } else if (!result.error) {  // what verify said comes first: it knows the model
        result.error = std::move(comparison).error();
      }
    }
    view_.right.push_back(std::move(result));
  }
  line_.clear();
}

TargetResult CompareRun::run_one(const Target& target) {
  TargetResult result;
  result.target = target.text();
  const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
    line_.update(fmt::format("{}: {}", result.target, step), done, total);
  };
  RunRequest request;
  request.model = &model_;
  request.inputs = given_.tensors;
  request.repeat = request_.repeat;
  request.capture = capture_from(request_.trace).value_or(Capture::all);
  request.values = values_;
  auto trace = runner_.run(target, request, progress);
  if (!trace.ok()) {
    result.error = std::move(trace).error();
    return result;
  }
  result.trace = *std::move(trace);
  if (request_.capture.perturbation_check && target.host != "file") {
    auto checked = runner_.check_perturbation(target, request, *result.trace, progress);
    if (!checked.ok()) result.error = std::move(checked).error();
  }
  const auto judging = [&](std::int64_t done, std::int64_t total) {
    progress("verifying", done, total);
    return true;
  };
  auto verification = verify(model_.graph, model_.sha256, *result.trace, threads_, judging);
  if (!verification.ok()) {
    result.error = std::move(verification).error();
    return result;
  }
  result.verification = *std::move(verification);
  if (dataset_ && target.host != "file") {
    auto all = run_dataset(runner_, target, model_, *dataset_, progress);
    if (all.ok()) {
      result.dataset = std::move(all->result);
    } else {
      result.error = std::move(all).error();
    }
  }
  return result;
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
