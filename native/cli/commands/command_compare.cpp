// driftscope compare MODEL [--input X]… --left T --right T[,T…] [--save OUT.drift] [--json OUT]
//   [--report OUT.html] [--junit OUT.xml] [--fail-on fault,top1,slower:20%] [--baseline FILE]
// driftscope compare RUN.drift [--json OUT] …: shows a kept comparison
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/report/report.hpp"
#include "core/report/tables.hpp"
#include "core/results/view_json.hpp"
#include "core/runtime/engine.hpp"
#include "native/cli/baseline_run.hpp"
#include "native/cli/commands/check_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/layer_options.hpp"
#include "native/cli/commands/runner_options.hpp"
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
  std::string left = "pc/" + default_engine().name();
  std::vector<std::string> right;
  CompareRequest request;
  CheckOptions checks;
  std::string baseline;
  std::string report;
  std::string save;
  bool without_model = false;
  LayerChoice layers;
};

void print_view(const ComparisonView& view, const LayerChoice& layers) {
  print_out("{}  {}\n\n{}", view.model_name, view.input_text, compare_table(view, layers));
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

Status write_outputs(const CompareOptions& options, const ComparisonView& view) {
  if (!options.checks.json.empty()) DRIFTSCOPE_CHECK(write_json(options.checks.json, view_json(view) + "\n"));
  const auto say = [&](const char* what, const std::string& file) {
    print_text(options.checks.json == "-" ? stderr : stdout, fmt::format("{}: {}\n", what, file));
  };
  if (!options.save.empty()) say("kept", options.save);
  if (options.report.empty()) return {};
  DRIFTSCOPE_CHECK(write_file(options.report, comparison_report(view)));
  say("report", options.report);
  return {};
}

/// Shows the results, new or kept. `checks` makes the report of the checks, after the table is printed.
template <class Checks>
Result<Exit> present(const CompareOptions& options, ComparisonView& view, const Checks& make_checks) {
  if (options.checks.json != "-") print_view(view, options.layers);
  const Exit failed_targets = print_failed_targets(view);
  DRIFTSCOPE_TRY(const CheckReport checks, make_checks());
  view.gate = checks_json(checks);
  DRIFTSCOPE_CHECK(write_outputs(options, view));
  DRIFTSCOPE_CHECK(
      report_checks(checks, view, options.checks, options.model, !options.checks.fail_on.empty()));
  return checks.failed() ? Exit::fault : failed_targets;
}

Status expect_nothing_to_run(const CompareOptions& options) {
  const auto needs = [&](const char* option) {
    return bad_input(
        fmt::format("{}: {} is for new runs, and a kept comparison is only shown; name targets with "
                    "--right to run its model on its inputs again",
                    options.model, option));
  };
  if (!options.request.inputs.empty()) return needs("--input");
  if (!options.request.dataset.empty()) return needs("--dataset");
  if (!options.baseline.empty()) return needs("--baseline");
  if (!options.save.empty()) return needs("--save");
  return {};
}

Result<Exit> show_kept(const CompareOptions& options, const FailOn& conditions, const KeptFile& kept) {
  DRIFTSCOPE_CHECK(expect_nothing_to_run(options));
  DRIFTSCOPE_TRY(ComparisonView view, kept.view());
  return present(options, view, [&]() -> Result<CheckReport> { return run_checks(view, conditions); });
}

Result<ModelFile> model_to_run(const CompareOptions& options, const std::optional<KeptFile>& kept) {
  return kept ? kept->model(Weights::deferred) : load_model_file(options.model, Weights::deferred);
}

Result<Exit> run_compare(CompareOptions& options) {
  DRIFTSCOPE_TRY(const FailOn conditions,
                 conditions_of(options.checks, usual_conditions(options.request.capture)));
  std::optional<KeptFile> kept;
  if (is_kept_file(options.model)) {
    DRIFTSCOPE_TRY(kept.emplace(), KeptFile::open(options.model));
    if (options.right.empty()) return show_kept(options, conditions, *kept);
    options.request.kept_inputs = kept_inputs(*kept);
  }
  if (options.right.empty())
    return bad_input("compare: --right is missing: the targets to compare with " + options.left);
  DRIFTSCOPE_TRY(const Target left, read_target(options.left));
  DRIFTSCOPE_TRY(const auto right, read_targets(options.right));
  DRIFTSCOPE_TRY(const ModelFile model, model_to_run(options, kept));
  std::optional<Baseline> baseline;
  if (!options.baseline.empty()) {
    DRIFTSCOPE_TRY(baseline.emplace(), load_baseline(options.baseline, model));
  }
  CompareCommand command(options.request, model);
  DRIFTSCOPE_CHECK(command.read_samples());
  ComparisonView view = command.run(left, right);
  if (!options.save.empty())
    DRIFTSCOPE_CHECK(save_kept(options.save, view, model, command.inputs(),
                               options.without_model ? KeepModel::hash_alone : KeepModel::whole));
  return present(options, view,
                 [&] { return run_checks_against(options, conditions, std::move(baseline), view, model); });
}

}  // namespace

namespace commands::compare {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CompareRequest& request = options->request;
  app.add_option(
         "MODEL", options->model,
         "The .onnx file, or a comparison that --save has kept (.drift): shown again, or with --right its "
         "model runs on its inputs")
      ->required();
  app.add_option("--input", request.inputs, input_help)->expected(1)->take_all();
  app.add_option("--dataset", request.dataset,
                 "Also run a whole data set: accuracy, and on how many samples the targets agree "
                 "(idx:IMAGES,LABELS, cifar10:FILE, imdb:DIR or images:DIR)");
  app.add_option("--left", options->left, "The target to compare with")->capture_default_str();
  app.add_option("--right", options->right, "The targets to compare, separated by commas")
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
  add_layer_option(app, options->layers);
  app.add_option("--json", options->checks.json, "Write everything as JSON ('-': standard output)");
  CLI::Option* save =
      app.add_option("--save", options->save,
                     "Keep the comparison as one file (.drift) with model, inputs, traces and results, which "
                     "'compare', 'verify', 'report', 'gui' and the page open");
  app.add_flag("--without-model", options->without_model, "Keep the hash of the model alone")->needs(save);
  app.add_option("--report", options->report, "Write a self-contained HTML report, to attach to a bug");
  add_check_options(app, options->checks, default_conditions);
  app.add_option("--baseline", options->baseline,
                 "Judge top1, bits and speed against this file ('driftscope baseline save'), not against "
                 "the left target; layers that were suspect or faults there are known");
  app.add_flag("--quiet", request.quiet, "No progress line");
  add_runner_options(app, request.runner);
  app.footer(
      "A target that cannot run is reported, the others continue. A difference alone is not a fault: the\n"
      "verdict of each layer says whether float32 rounding explains it.\n\n"
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
  return [options] {
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
