// driftscope compare MODEL [--input X]… --left T --right T[,T…] [--save OUT.drift] [--json OUT]
//   [--report OUT.html] [--junit OUT.xml] [--fail-on fault,top1,slower:20%] [--baseline FILE]
// driftscope compare DIR [--targets T,…] [--part NAME] [--tolerance X]: every variant in a model's folder
// driftscope compare RUN.drift [--json OUT] …: shows a kept comparison
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <set>

#include "core/bench/memory_growth.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/report/report.hpp"
#include "core/report/tables.hpp"
#include "core/results/view_json.hpp"
#include "core/runtime/engine.hpp"
#include "native/browser/remote_device.hpp"
#include "native/cli/baseline_run.hpp"
#include "native/cli/commands/check_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/folder_options.hpp"
#include "native/cli/commands/layer_options.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/commands/sensitivity_option.hpp"
#include "native/cli/commands/store_option.hpp"
#include "native/cli/compare_run.hpp"
#include "native/host/kept_file.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

constexpr const char* default_conditions = "fault";

/// A check that was asked for counts.
std::string usual_conditions(const CaptureOptions& asked) {
  std::string text = default_conditions;
  if (asked.repeat_check > 0) text += ",unrepeatable";
  if (asked.memory_runs > 0) text += ",growing";
  return text;
}

struct CompareOptions {
  std::string model;
  std::string left = default_target();
  std::vector<std::string> right;
  CompareRequest request;
  CheckOptions checks;
  std::string baseline;
  std::string report;
  std::string save;
  bool without_model = false;
  LayerChoice layers;
  FolderOptions folder;
  std::string for_runs;  ///< an option that was given and has no meaning where nothing runs
};

/// The first option that was given and is not one of `known`; empty: none.
std::string given_beside(const CLI::App& app, const std::set<std::string>& known) {
  for (const CLI::Option* const option : app.get_options())
    if (option->count() > 0 && !known.contains(option->get_name())) return option->get_name();
  return {};
}

void print_view(const ComparisonView& view, const LayerChoice& layers) {
  print_out("{}  {}\n{}\n{}", view.model_name, view.input_text, notes_text(view.notes),
            compare_table(view, layers));
  if (view.left.dataset) print_out("\n{}\n{}", view.dataset_text, dataset_table(view));
  print_out("\n{}\n", headline(view));
}

Result<CheckReport> run_checks_against(const CompareOptions& options, const FailOn& conditions,
                                       std::optional<Baseline> baseline, const ComparisonView& view,
                                       const ModelFile& model) {
  if (!baseline) return run_checks(view, conditions);
  DRIFTSCOPE_TRY(const BaselineCheck check, baseline_check(*std::move(baseline), view, conditions, model,
                                                           options.request.runner, options.request.quiet));
  return run_checks(view, conditions, &check);
}

Status write_outputs(const CompareOptions& options, const ComparisonView& view, bool kept) {
  if (!options.checks.json.empty()) DRIFTSCOPE_CHECK(write_json(options.checks.json, view_json(view) + "\n"));
  const auto say = [&](const char* what, const std::string& file) {
    print_text(options.checks.json == "-" ? stderr : stdout, fmt::format("{}: {}\n", what, file));
  };
  if (!options.save.empty() && kept) say("kept", options.save);
  if (options.report.empty()) return {};
  DRIFTSCOPE_CHECK(write_file(options.report, comparison_report(view)));
  say("report", options.report);
  return {};
}

/// What differs between new results and kept ones.
struct Presented {
  std::function<Status()> keep = [] { return Status(); };  ///< once the table is printed: it may fail
  std::function<Result<CheckReport>()> check;
};

Result<Exit> present(const CompareOptions& options, ComparisonView& view, const Presented& how) {
  if (options.checks.json != "-") print_view(view, options.layers);
  const Exit failed_targets = print_failed_targets(view);
  const Status kept = how.keep();
  DRIFTSCOPE_TRY(const CheckReport checks, how.check());
  view.gate = checks_json(checks);
  DRIFTSCOPE_CHECK(write_outputs(options, view, kept.ok()));
  DRIFTSCOPE_CHECK(
      report_checks(checks, view, options.checks, options.model, !options.checks.fail_on.empty()));
  if (!kept.ok()) return kept.error();
  return checks.failed() ? Exit::fault : failed_targets;
}

/// The conditions under which the live run was judged: checks that were asked for then are in the results.
/// On devices of the hub they are there unasked; only the command says whether they counted.
std::string usual_conditions(const ComparisonView& view) {
  CaptureOptions asked;
  const auto look = [&](const TargetResult& target) {
    const bool device = target.target.starts_with(remote_prefix);
    const auto counts = [&](std::string_view option) {
      return !device || view.command.find(option) != std::string::npos;
    };
    if (target.verification && target.verification->repeats && counts(" --repeat-check "))
      asked.repeat_check = 1;
    if (target.trace && memory_over_runs_of(*target.trace) && counts(" --memory-runs "))
      asked.memory_runs = 1;
  };
  look(view.left);
  for (const TargetResult& right : view.right) look(right);
  return usual_conditions(asked);
}

Result<Exit> show_kept(const CompareOptions& options, const KeptFile& kept) {
  if (!options.for_runs.empty())
    return bad_input(
        fmt::format("{}: {} is for new runs, and a kept comparison is only shown; name targets with "
                    "--right to run its model on its inputs again",
                    options.model, options.for_runs));
  DRIFTSCOPE_TRY(ComparisonView view, kept.view());
  DRIFTSCOPE_TRY(const FailOn conditions, conditions_of(options.checks, usual_conditions(view)));
  return present(options, view, {.check = [&] { return run_checks(view, conditions); }});
}

Result<Exit> run_on_folder(const CompareOptions& options) {
  DRIFTSCOPE_TRY(FailOn conditions, conditions_of(options.checks, default_conditions));
  return compare_folder({.folder = options.model,
                         .left = options.left,
                         .right = options.right,
                         .json = options.checks.json,
                         .page = options.report,
                         .conditions = conditions},
                        options.folder, options.request);
}

Result<Exit> run_compare(CompareOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(options.model, ignored)) return run_on_folder(options);
  if (!options.folder.alone.empty())
    return bad_input(
        fmt::format("{}: {} is for a folder with several variants of a model, and this is a file",
                    options.model, options.folder.alone));
  if (options.right.empty() && is_kept_file(options.model)) {
    DRIFTSCOPE_TRY(const KeptFile kept, KeptFile::open(options.model));
    return show_kept(options, kept);
  }
  if (options.right.empty() && !std::filesystem::exists(options.model, ignored))
    return open_model(options.model, Weights::deferred).error();
  if (options.right.empty())
    return bad_input("compare: --right is missing: the targets to compare with " + options.left);
  DRIFTSCOPE_TRY(const FailOn conditions,
                 conditions_of(options.checks, usual_conditions(options.request.capture)));
  DRIFTSCOPE_TRY(const Target left, read_target(options.left));
  DRIFTSCOPE_TRY(const auto right, read_targets(options.right));
  DRIFTSCOPE_TRY(OpenedModel opened, open_model(options.model, Weights::deferred));
  const ModelFile& model = opened.model;
  options.request.kept_inputs = std::move(opened.inputs);
  std::optional<Baseline> baseline;
  if (!options.baseline.empty()) {
    DRIFTSCOPE_TRY(baseline.emplace(), load_baseline(options.baseline, model));
  }
  CompareCommand command(options.request, model);
  DRIFTSCOPE_CHECK(command.read_samples());
  DRIFTSCOPE_TRY(ComparisonView view, command.run(left, right));
  const KeepModel keep = options.without_model ? KeepModel::hash_alone : KeepModel::whole;
  return present(
      options, view,
      {.keep =
           [&] {
             return options.save.empty() ? Status()
                                         : save_kept(options.save, view, model, command.inputs(), keep);
           },
       .check = [&] { return run_checks_against(options, conditions, std::move(baseline), view, model); }});
}

}  // namespace

namespace commands::compare {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CompareRequest& request = options->request;
  app.add_option(
         "MODEL", options->model,
         "The .onnx file, a folder with variants of a model (model.onnx, onnx/model_q4.onnx, …), or a "
         "comparison that --save has kept (.drift): shown again, or with --right its "
         "model runs on its inputs")
      ->required();
  add_input_options(app, request.inputs);
  CLI::Option* dataset =
      app.add_option("--dataset", request.dataset,
                     fmt::format("Also run a whole data set: accuracy, and on how many samples the targets "
                                 "agree ({})",
                                 dataset_forms()));
  add_store_option(app, request.store, "the answer to each sample of the data set")->needs(dataset);
  app.add_option("--left", options->left, "The target to compare with")->capture_default_str();
  app.add_option("--right,--targets", options->right, "The targets to compare, separated by commas")
      ->expected(1)
      ->take_all();
  app.add_option("--repeat", request.repeat,
                 "Watched runs per target (default: until the times of layers have settled, for a second at "
                 "most). Times of layers are medians of the later half, never of the first run")
      ->check(CLI::Range(1, 100000));
  app.add_option(
         "--times", request.times,
         "Seconds for the time of each target: afterwards the whole model runs alone and unwatched, at "
         "least twice. 0: not at all")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--trace", request.trace, capture_help)
      ->check(CLI::IsMember({"all", "fused", "outputs"}))
      ->capture_default_str();
  add_capture_options(app, request.capture);
  add_sensitivity_option(app, request.sensitivity);
  app.add_flag(
      "--matters", request.matters,
      "Run targets with wrong layers again with the right tensors in their place, each alone: is the "
      "answer right then?");
  add_layer_option(app, options->layers);
  app.add_option("--json", options->checks.json, "Write everything as JSON ('-': standard output)");
  CLI::Option* save =
      app.add_option("--save", options->save,
                     "Keep the comparison as one file (.drift) with model, inputs, traces and results, which "
                     "'compare', 'verify', 'report', 'gui' and the page open");
  app.add_flag("--without-model", options->without_model, "Keep the hash of the model alone")->needs(save);
  app.add_option("--report,-o", options->report, "Write a self-contained HTML report, to attach to a bug");
  add_folder_options(app, options->folder);
  add_check_options(app, options->checks, default_conditions);
  app.add_option("--baseline", options->baseline,
                 "Judge top1, bits and speed against this file ('driftscope baseline save'), not against "
                 "the left target; layers that were suspect or faults there are known");
  app.add_flag("--quiet", request.quiet, "No progress line");
  add_runner_options(app, request.runner);
  app.footer(
      "A target that cannot run is reported, the others continue. A difference alone is not a fault: the\n"
      "verdict of each layer says whether float32 rounding explains it.\n\n"
      "A folder as model hubs have it: every variant on all targets, how far its answers are from\n"
      "float32's, and which is the smallest that keeps them:\n"
      "  driftscope compare my-model/ --targets pc/ort,chrome/ort-webgpu -o variants.html\n\n"
      "Keep one, and look at it elsewhere:\n"
      "  driftscope compare model.onnx --right chrome/webgpu --save run.drift\n"
      "  driftscope gui run.drift\n\n"
      "In a pipeline:\n"
      "  driftscope compare model.onnx --left pc/strict --right chrome/fast --fail-on fault,top1 \\\n"
      "      --junit out.xml --report report.html\n"
      "  driftscope compare model.onnx --right pc/fast --fail-on fault,slower:20% --baseline base.json\n"
      "Where GITHUB_ACTIONS is set, failures become annotations and the step gets a summary. slower\n"
      "compares the recorded layers of the runs on both sides; with --baseline it measures as the\n"
      "baseline did.\n\n"
      "Exit code 1: a condition of --fail-on holds; 3: a browser or driver is missing here.");
  return [options, &app] {
    look_for_wrong_options(app, options->folder);
    options->for_runs = given_beside(app, {"MODEL", "--layers", "--json", "--report", "--fail-on", "--junit",
                                           "--sarif", "--summary", "--quiet"});
    CompareRequest& wanted = options->request;
    if (!wanted.dataset.empty()) wanted.store = chosen_store(wanted.store);
    const auto exit = run_compare(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 30,
             .name = "compare",
             .summary = "Run a model on several targets and compare them layer by layer.",
             .declare = declare});
}

}  // namespace commands::compare

}  // namespace driftscope
