// driftscope baseline save|check MODEL …
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>

#include "core/checks/speed.hpp"
#include "core/report/report.hpp"
#include "core/report/tables.hpp"
#include "core/results/view_json.hpp"
#include "native/bench/build_id.hpp"
#include "native/cli/baseline_run.hpp"
#include "native/cli/commands/check_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/compare_run.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

constexpr const char* default_check = "fault,top1,slower:20%";
constexpr double default_slowdown = 0.2;

struct BaselineOptions {
  std::string model;
  std::string file;  ///< of the baseline; empty: beside the model
  std::vector<std::string> targets;
  CompareRequest request;
  int starts = 5;
  double seconds = 1.0;
  bool no_times = false;
  CheckOptions checks;
  std::string report;
};

std::filesystem::path file_of(const BaselineOptions& options) {
  return options.file.empty() ? default_baseline(options.model) : std::filesystem::path(options.file);
}

Result<ComparisonView> run_all(const CompareRequest& request, const ModelFile& model,
                               const std::vector<Target>& targets) {
  CompareCommand command(request, model);
  DRIFTSCOPE_CHECK(command.read_samples());
  return command.run(targets.front(), {targets.begin() + 1, targets.end()});
}

std::string saved_line(const BaselineTarget& target) {
  std::string line = fmt::format("{}  {}, {} known layer{}", target.target, target.ran, target.known.size(),
                                 target.known.size() == 1 ? "" : "s");
  if (target.medians_ns.empty()) return line + ", not timed";
  line += fmt::format(", {} starts", target.medians_ns.size());
  const auto visible = min_visible_slowdown(target.medians_ns);
  if (!visible) return line;
  line += fmt::format("; a slowdown shows from {:.0f} % on", std::ceil(100.0 * *visible));
  if (*visible > default_slowdown)
    line += ": noisy, save again when the machine is idle, or with more --starts";
  return line;
}

Result<Exit> save_baseline(const BaselineOptions& options) {
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model, Weights::deferred));
  DRIFTSCOPE_TRY(const auto targets, read_targets(options.targets));
  for (const Target& target : targets)
    if (target.host == "file")
      return bad_input(
          fmt::format("target {}: a recorded trace never changes; name targets that run, as in "
                      "pc/strict,chrome/fast",
                      target.text()));
  DRIFTSCOPE_TRY(const ComparisonView view, run_all(options.request, model, targets));
  const Exit failed = print_failed_targets(view);
  if (failed != Exit::ok) {
    print_error(bad_input("nothing was saved: a baseline holds all of its targets or none"));
    return failed;
  }
  Baseline baseline = baseline_of(view);
  baseline.inputs = options.request.inputs;
  baseline.build = build_id();
  baseline.machine = this_machine();
  if (!options.no_times) {
    baseline.measured.starts = options.starts;
    baseline.measured.seconds = options.seconds;
    DRIFTSCOPE_TRY(const auto medians,
                   measure_starts({model.path, options.request.inputs, targets, options.starts,
                                   options.seconds, options.request.runner, options.request.quiet}));
    for (BaselineTarget& target : baseline.targets)
      if (const auto found = medians.find(target.target); found != medians.end())
        target.medians_ns = found->second;
  }
  const auto path = file_of(options);
  DRIFTSCOPE_CHECK(write_file(path, baseline_json(baseline) + "\n"));
  for (const BaselineTarget& target : baseline.targets) print_out("{}\n", saved_line(target));
  print_out("baseline: {}\n", path.string());
  return Exit::ok;
}

Result<Exit> check_baseline(const BaselineOptions& options) {
  DRIFTSCOPE_TRY(const FailOn conditions, conditions_of(options.checks, default_check));
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model, Weights::deferred));
  DRIFTSCOPE_TRY(Baseline baseline, load_baseline(file_of(options), model));
  std::vector<std::string> names = options.targets;
  if (names.empty())
    for (const BaselineTarget& saved : baseline.targets) names.push_back(saved.target);
  DRIFTSCOPE_TRY(const auto targets, read_targets(names));
  CompareRequest request = options.request;
  request.inputs = baseline.inputs;
  DRIFTSCOPE_TRY(ComparisonView view, run_all(request, model, targets));
  const Exit failed = print_failed_targets(view);
  DRIFTSCOPE_TRY(const BaselineCheck check,
                 baseline_check(std::move(baseline), view, conditions, model, request.runner, request.quiet));
  const CheckReport checks = run_checks(view, conditions, &check);
  view.gate = checks_json(checks);
  if (!options.checks.json.empty()) DRIFTSCOPE_CHECK(write_json(options.checks.json, view_json(view) + "\n"));
  if (!options.report.empty()) DRIFTSCOPE_CHECK(write_file(options.report, comparison_report(view)));
  DRIFTSCOPE_CHECK(report_checks(checks, view, options.checks, options.model, true));
  return checks.failed() ? Exit::fault : failed;
}

void add_common(CLI::App& app, BaselineOptions& options) {
  app.add_option("MODEL", options.model, "The .onnx file")->required();
  app.add_option("--baseline,--out", options.file,
                 "The baseline's file (default: MODEL with the ending .baseline.json)");
  options.request.repeat = 5;   // the same number for the file and for checks against it
  options.request.times = 0.0;  // a baseline has times of its own, from several starts
  app.add_option("--repeat", options.request.repeat, "Recorded runs per target")
      ->check(CLI::Range(1, 100000));
  app.add_flag("--quiet", options.request.quiet, "No progress line");
  add_runner_options(app, options.request.runner);
}

void add_save(CLI::App& app, BaselineOptions& options) {
  add_common(app, options);
  app.add_option("--targets", options.targets, "host/engine[:option=value,…], separated by commas")
      ->required()
      ->expected(1)
      ->take_all();
  add_input_options(app, options.request.inputs);
  app.add_option("--starts", options.starts,
                 "Starts to measure, each in fresh processes: their noise is the yardstick for later times")
      ->check(CLI::Range(3, 100))
      ->capture_default_str();
  app.add_option("--time", options.seconds, "Seconds of measuring per start and target")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  app.add_flag("--no-times", options.no_times, "Keep only verdicts and answers");
}

void add_check(CLI::App& app, BaselineOptions& options) {
  add_common(app, options);
  app.add_option("--targets", options.targets, "Only these targets of the baseline")->expected(1)->take_all();
  add_check_options(app, options.checks, default_check);
  app.add_option("--json", options.checks.json, "Write everything as JSON ('-': standard output)");
  app.add_option("--report", options.report, "Write a self-contained HTML report");
}

}  // namespace

namespace commands::baseline {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<BaselineOptions>();
  app.require_subcommand(1);
  CLI::App* save = app.add_subcommand("save", "Run a model on its targets and keep the results.");
  CLI::App* check = app.add_subcommand("check", "Run it again and say what got worse.");
  add_save(*save, *options);
  add_check(*check, *options);
  app.footer(
      "A baseline is a small JSON file to be committed beside the model: per target the layers that are\n"
      "suspect or faults already, the answer (best class, SHA-256), and medians of several fresh starts.\n\n"
      "  driftscope baseline save model.onnx --targets pc/strict,chrome/fast --input seed:42\n"
      "  driftscope baseline check model.onnx --junit out.xml\n\n"
      "check fails on what is new: a fault that was not one before, another best class, a median that is "
      "longer by\n"
      "more than 20 % and by more than the starts differ among themselves (Student's t, 99 %). Times are\n"
      "compared on the same processor with the same browser only; elsewhere this is skipped, with a notice.");
  return [options, save] {
    const auto exit = save->parsed() ? save_baseline(*options) : check_baseline(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 40,
             .name = "baseline",
             .summary = "Keep a model's results, and fail when they get worse.",
             .declare = declare});
}

}  // namespace commands::baseline

}  // namespace driftscope
