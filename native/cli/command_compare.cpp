// driftscope compare MODEL [--input X]… --left T --right T[,T…] [--json OUT] [--report OUT.html]
#include <fmt/format.h>

#include "core/platform/platform.hpp"
#include "core/views/report.hpp"
#include "core/views/tables.hpp"
#include "core/views/view_json.hpp"
#include "native/cli/capture_options.hpp"
#include "native/cli/commands.hpp"
#include "native/cli/dataset_run.hpp"
#include "native/cli/files.hpp"
#include "native/cli/runner_options.hpp"
#include "native/cli/sample_files.hpp"

namespace driftscope {
namespace {

struct CompareOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string dataset;
  std::string left = "pc/strict";
  std::vector<std::string> right;
  int repeat = 5;
  std::string trace = "all";
  CaptureOptions capture;
  std::string json;
  std::string report;
  bool quiet = false;
  RunnerOptions runner;
};

std::string command_line(const CompareOptions& options, const Target& left,
                         const std::vector<Target>& right) {
  std::string text = "driftscope compare " + options.model;
  for (const std::string& input : options.inputs) text += " --input " + input;
  if (!options.dataset.empty()) text += " --dataset " + options.dataset;
  if (options.trace != "all") text += " --trace " + options.trace;
  text += capture_text(options.capture);
  text += " --left " + left.text() + " --right ";
  for (std::size_t i = 0; i < right.size(); ++i) text += (i > 0 ? "," : "") + right[i].text();
  return text;
}

/// One compare while it goes on: runs every target and puts the view together.
class CompareRun {
 public:
  CompareRun(const CompareOptions& options, const ModelFile& model)
      : options_(options),
        model_(model),
        runner_(options.runner),
        line_(options.quiet),
        threads_(usable_processors()) {}

  Status read_samples() {
    if (!options_.dataset.empty()) {
      DRIFTSCOPE_TRY(dataset_.emplace(), read_dataset(options_.dataset, model_));
      view_.dataset_text = dataset_->text;
    }
    DRIFTSCOPE_TRY(given_, read_inputs(options_.inputs, model_));
    DRIFTSCOPE_TRY(values_, captured_values(model_.graph, options_.capture));
    view_.model_name = model_.path.filename().string();
    view_.model_sha256 = model_.sha256;
    view_.input_text = given_.text;
    view_.input_label = given_.label;
    view_.class_names = class_names(model_);
    return {};
  }

  void run(const Target& left, const std::vector<Target>& right) {
    view_.command = command_line(options_, left, right);
    view_.left = run_one(left);
    for (const Target& target : right) {
      TargetResult result = run_one(target);
      if (result.trace && view_.left.trace) {
        auto comparison = compare(model_.graph, *view_.left.trace, *result.trace);
        if (comparison.ok()) {
          result.comparison = *std::move(comparison);
        } else {
          result.error = std::move(comparison).error();
        }
      }
      view_.right.push_back(std::move(result));
    }
    line_.clear();
  }

  [[nodiscard]] const ComparisonView& view() const { return view_; }

 private:
  TargetResult run_one(const Target& target) {
    TargetResult result;
    result.target = target.text();
    const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      line_.update(fmt::format("{}: {}", result.target, step), done, total);
    };
    RunRequest request;
    request.model = &model_;
    request.inputs = given_.tensors;
    request.repeat = options_.repeat;
    request.capture = capture_from(options_.trace).value_or(Capture::all);
    request.values = values_;
    auto trace = runner_.run(target, request, progress);
    if (!trace.ok()) {
      result.error = std::move(trace).error();
      return result;
    }
    result.trace = *std::move(trace);
    if (options_.capture.observer_check && target.host != "file") {
      auto checked = runner_.check_observer(target, request, *result.trace, progress);
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

  const CompareOptions& options_;
  const ModelFile& model_;
  TargetRunner runner_;
  ProgressLine line_;
  ThreadPool threads_;
  GivenInputs given_;
  std::optional<std::vector<std::string>> values_;
  std::optional<GivenDataset> dataset_;
  ComparisonView view_;
};

Exit exit_of_view(const ComparisonView& view) {
  Exit exit = Exit::ok;
  bool fault = false;
  const auto look = [&](const TargetResult& result) {
    if (result.error) {
      print_error(in_context(*result.error, result.target));
      exit = exit_of(*result.error);
    }
    fault = fault || (result.verification && result.verification->verdict == Verdict::fault);
  };
  look(view.left);
  for (const TargetResult& right : view.right) look(right);
  return fault ? Exit::fault : exit;
}

Result<Exit> run_compare(const CompareOptions& options) {
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model));
  DRIFTSCOPE_TRY(const Target left, parse_target(options.left));
  std::vector<Target> right;
  for (const std::string& text : options.right) {
    DRIFTSCOPE_TRY(const auto targets, parse_targets(text));
    right.insert(right.end(), targets.begin(), targets.end());
  }
  CompareRun run(options, model);
  DRIFTSCOPE_CHECK(run.read_samples());
  run.run(left, right);
  const ComparisonView& view = run.view();
  if (options.json != "-") {
    fmt::print("{}  {}\n\n{}", view.model_name, view.input_text, with_colours(compare_table(view)));
    if (view.left.dataset)
      fmt::print("\n{}\n{}", view.dataset_text, dataset_table(view));
    fmt::print("\n{}\n", headline(view));
  }
  const Exit exit = exit_of_view(view);
  if (!options.json.empty())
    DRIFTSCOPE_CHECK(write_output(options.json, view_json(view) + "\n"));
  if (!options.report.empty()) {
    DRIFTSCOPE_CHECK(write_file(options.report, comparison_report(view)));
    fmt::print(options.json == "-" ? stderr : stdout, "report: {}\n", options.report);
  }
  return exit;
}

}  // namespace

Command add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("MODEL", options->model, "The .onnx file")->required();
  app.add_option("--input", options->inputs, input_help)->expected(1)->take_all();
  app.add_option("--dataset", options->dataset,
                 "Also run a whole data set: accuracy, and on how many samples the targets agree "
                 "(idx:IMAGES,LABELS, cifar10:FILE, imdb:DIR or images:DIR)");
  app.add_option("--left", options->left, "The target to compare with")->capture_default_str();
  app.add_option("--right", options->right, "The targets to compare, separated by commas")
      ->required()
      ->expected(1)
      ->take_all();
  app.add_option("--repeat", options->repeat, "Runs per target; times are medians without the first")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--trace", options->trace, capture_help)
      ->check(CLI::IsMember({"all", "fused", "outputs"}))
      ->capture_default_str();
  add_capture_options(app, options->capture);
  app.add_option("--json", options->json, "Write everything as JSON ('-': standard output)");
  app.add_option("--report", options->report, "Write a self-contained HTML report");
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_runner_options(app, options->runner);
  app.footer(
      "A target that cannot run is reported, the others go on. A difference alone is no fault: the\n"
      "verdict of each layer says whether float32 rounding explains it. Exit code 1: some layer is a\n"
      "fault; 3: a browser or driver is missing here.");
  return [options] {
    const auto exit = run_compare(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

}  // namespace driftscope
