// driftscope bench MODEL… --targets T[,T…] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>

#include "core/report/bench_view.hpp"
#include "core/report/history_view.hpp"
#include "core/runtime/engine.hpp"
#include "native/bench/bench.hpp"
#include "native/bench/history.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/host/host.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"
#include "native/os/signal_watcher.hpp"

namespace driftscope {
namespace {

// A slowdown is flagged if noise alone gives as much only once in a hundred comparisons.
constexpr double history_confidence = 0.99;
// In percent. Two builds often differ by less than two targets.
constexpr double usual_precision = 2.0;
constexpr double fine_precision = 0.5;
constexpr int usual_launches = 6;

struct BenchOptions {
  BenchPlan plan;
  std::vector<std::string> targets;
  std::vector<std::string> bases;
  std::optional<double> precision_percent;
  std::string against;
  double confidence_percent = 95.0;
  std::string json;
  std::string db;
  bool history = false;
  bool no_save = false;
  bool quiet = false;
};

/// What exists as a file or folder is another build, everything else a target.
Status complete_against(const BenchOptions& options, BenchPlan& plan) {
  if (options.against.empty()) {
    if (plan.launches > 1) return bad_input("--launches: needs --against");
    return {};
  }
  if (!options.bases.empty()) return bad_input("--base and --against: use one of them");
  if (plan.launches == 1) plan.launches = usual_launches;
  std::error_code error;
  if (std::filesystem::exists(options.against, error)) {
    DRIFTSCOPE_TRY(plan.other_build, find_other_build(options.against));
    return {};
  }
  auto target = read_target(options.against);
  if (!target.ok())
    return in_context(target.error(),
                      fmt::format("--against {}: no such file or folder, and no target", options.against));
  plan.against = target->text();
  const auto same = [&](const Target& one) { return one.text() == plan.against; };
  if (std::ranges::none_of(plan.targets, same)) plan.targets.push_back(*std::move(target));
  if (plan.targets.size() < 2)
    return bad_input("--against " + plan.against + ": name another target to judge");
  return {};
}

Result<BenchPlan> complete_plan(const BenchOptions& options) {
  BenchPlan plan = options.plan;
  plan.limits.precision =
      options.precision_percent.value_or(options.against.empty() ? usual_precision : fine_precision) / 100.0;
  plan.limits.confidence = options.confidence_percent / 100.0;
  if (plan.models.empty())
    return bad_input("bench: which model? Name one or more .onnx files, or --history alone");
  DRIFTSCOPE_TRY(plan.targets, read_targets(options.targets));
  if (plan.targets.empty()) plan.targets = {{std::string(default_host()), default_engine().name(), {}}};
  DRIFTSCOPE_TRY(const auto bases, read_targets(options.bases));
  DRIFTSCOPE_CHECK(complete_against(options, plan));
  for (const Target& base : bases) {
    const bool known =
        std::ranges::any_of(plan.targets, [&](const Target& target) { return target.text() == base.text(); });
    if (!known) return bad_input(fmt::format("--base {}: it is not one of the --targets", base.text()));
    plan.bases.push_back(base.text());
  }
  return plan;
}

Exit exit_of_report(const BenchReport& report, bool stopped) {
  Exit exit = Exit::ok;
  for (const BenchRow& row : report.rows) {
    const Error* error = row.error ? &*row.error : row.series.error ? &*row.series.error : nullptr;
    if (error == nullptr || error->kind == ErrorKind::cancelled) continue;
    print_error(in_context(*error, row.model + ": " + row.target));
    exit = exit_of(*error);
  }
  if (stopped) return Exit::interrupted;
  const bool slower = std::ranges::any_of(report.contrasts, [](const BenchContrast& one) {
    return one.time == BenchTime::run && one.contrast.speed == RelativeSpeed::slower;
  });
  return exit == Exit::ok && slower ? Exit::fault : exit;
}

Result<History> open_history(const BenchOptions& options) {
  const std::filesystem::path file =
      options.db.empty() ? History::default_place() : std::filesystem::path(options.db);
  if (file.empty())
    return bad_input("history: neither XDG_DATA_HOME nor HOME is set to locate it; name it with --db");
  return History::open(file);
}

/// A history that cannot be written does not affect the figures: it is reported, an error only with --db.
Exit save(const BenchOptions& options, const BenchReport& report, Exit exit) {
  const bool any = std::ranges::any_of(report.rows, &BenchRow::measured);
  if (options.no_save || !any) return exit;
  auto history = open_history(options);
  const Status saved = history.ok() ? history->add(report) : Status(history.error());
  if (saved.ok()) return exit;
  print_error(in_context(saved.error(), "not saved (--no-save turns this off)"));
  return options.db.empty() || exit != Exit::ok ? exit : exit_of(saved.error());
}

Result<Exit> show_history(const BenchOptions& options) {
  DRIFTSCOPE_TRY(History history, open_history(options));
  DRIFTSCOPE_TRY(const auto all, history.read({options.plan.models, options.targets}));
  int slower = 0;
  for (const HistorySeries& series : all) {
    SeriesView view;
    view.title = fmt::format("{}  {}  batch {}", series.model, series.target, series.batch);
    if (series.capture != "none") view.title += "  trace " + series.capture;
    view.where = series.machine;
    if (!series.browser_version.empty()) view.where += ", " + series.browser_version;
    view.builds = series.builds;
    view.first_seen = series.first_seen;
    print_out("{}\n", history_table(view, history_confidence, &slower));
  }
  if (all.empty()) print_out("The history has no matching benchmark.\n");
  if (slower > 0)
    print_out("{} time{} a build is slower than the one before it, beyond the noise.\n", slower,
              slower == 1 ? "" : "s");
  return slower > 0 ? Exit::fault : Exit::ok;
}

Result<Exit> run_bench_command(const BenchOptions& options) {
  DRIFTSCOPE_TRY(const BenchPlan plan, complete_plan(options));
  // The first Ctrl-C keeps what was measured, the second one ends everything at once.
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  SignalWatcher::on_stop([stopped] { *stopped = true; });
  ProgressLine line(options.quiet);
  const auto report = run_plan(
      plan, [&] { return stopped->load(); },
      [&](const std::string& step, std::int64_t percent) { line.update(step, percent, 100); });
  line.clear();
  SignalWatcher::on_stop(nullptr);
  if (!report.ok()) return report.error();
  if (options.json != "-") print_out("{}", bench_table(*report));
  if (!options.json.empty()) DRIFTSCOPE_CHECK(write_json(options.json, bench_json(*report) + "\n"));
  return save(options, *report, exit_of_report(*report, *stopped));
}

}  // namespace

namespace commands::bench {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  BenchPlan& plan = options->plan;
  app.add_option("MODEL", plan.models, "The .onnx files");
  app.add_option(
         "--targets", options->targets,
         "host/engine[:option=value,…], separated by commas (default: pc/" + default_engine().name() + ")")
      ->expected(1)
      ->take_all();
  app.add_option("--base", options->bases,
                 "The targets to compare with, separated by commas (default: the first)")
      ->expected(1)
      ->take_all();
  add_input_options(app, plan.inputs);
  app.add_option("--batch", plan.batches,
                 "Batch sizes, as 1,8: for models whose leading dimension is a symbol")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", plan.threads,
                 "Numbers of threads, as 1,2: every target that does not set any runs with each")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  app.add_option(
         "--trace", plan.captures,
         "What each run records: none, outputs, fused, all, into a file (in a browser: into memory); as "
         "none,all to see what recording costs")
      ->delimiter(',')
      ->check(CLI::IsMember({"none", "outputs", "fused", "all"}));
  app.add_option(
         "--against", options->against,
         "Say whether each target is faster or slower than in another build of Driftscope (its program "
         "or folder), or than this target")
      ->option_text("REF");
  app.add_option("--launches", plan.launches,
                 fmt::format("With --against: how often everything is started (default: {})", usual_launches))
      ->check(CLI::Range(3, 1000));
  app.add_option(
         "--precision", options->precision_percent,
         fmt::format("Measure until the median is known within ± this many percent (default: {:g}, with "
                     "--against {:g})",
                     usual_precision, fine_precision))
      ->check(CLI::Range(0.01, 100.0));
  app.add_option("--confidence", options->confidence_percent, "Confidence level of all intervals, in percent")
      ->check(CLI::Range(50.0, 99.9))
      ->capture_default_str();
  app.add_option("--time", plan.limits.seconds, "Maximum seconds of measuring, for each target and model")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str();
  app.add_option("--warm-up", plan.limits.warm_up_seconds,
                 "Maximum seconds of warm-up; it ends once times are stable")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  app.add_option("--runs", plan.limits.max_runs, "Maximum number of runs, for each target and model")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--json", options->json, "Write everything as JSON ('-': standard output)");
  app.add_flag("--history", options->history,
               "Measure nothing: show earlier measurements as series over builds (of these models and "
               "--targets, if named), and what got slower beyond the noise");
  app.add_flag("--no-save", options->no_save, "Do not add this bench to the history");
  app.add_option("--db", options->db,
                 "File of the history (default: driftscope/bench.sqlite in $XDG_DATA_HOME or "
                 "~/.local/share)");
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_runner_options(app, plan.runner);
  app.footer(
      "Each target is loaded in processes of its own. The first run is reported separately; warm-up lasts\n"
      "until times are stable; then the targets take turns, A B A B, so that other load on the machine\n"
      "affects all of them alike, until every median is known precisely enough. The first reading of a\n"
      "turn is dropped: the caches still hold the data of other targets. A turn ends when the target's\n"
      "threads are idle: some spin, waiting for more. Ratios are taken within rounds;\n"
      "× is how many times as fast a target is as the base.\n\n"
      "With --against everything is started anew several times, in turns with the reference: processes of "
      "one\n"
      "program differ from start to start. It says faster, slower or cannot tell, for runs, loading and the\n"
      "first run, and the smallest difference that such a bench would have seen.\n\n"
      "  driftscope bench resnet20.onnx --targets pc/strict,chrome/strict,firefox/strict\n"
      "  driftscope bench *.onnx --targets pc/fast,pc/ort --base pc/ort --threads 1,2 --json out.json\n"
      "  driftscope bench resnet20.onnx --targets pc/strict --trace none,all\n"
      "  driftscope bench resnet20.onnx --targets pc/fast,chrome/fast --against "
      "../driftscope-0.1/build/native\n"
      "  driftscope bench resnet20.onnx --targets pc/fast --against pc/ort\n"
      "  driftscope bench --history\n\n"
      "Ctrl-C prints what was measured so far. Exit code 1: a run is slower than that of --against, or\n"
      "--history found a slowdown; 3: a browser or\n"
      "driver is missing here, the other targets were measured.");
  return [options] {
    const auto exit = options->history ? show_history(*options) : run_bench_command(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 50,
             .name = "bench",
             .summary = "Measure models on several targets side by side: time, memory, download.",
             .declare = declare});
}

}  // namespace commands::bench

}  // namespace driftscope
