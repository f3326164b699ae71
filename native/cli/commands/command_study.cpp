// driftscope study list | run NAME|FILE.json --out DIR [--budget 15m|--full] | report DIR
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <atomic>
#include <charconv>
#include <cmath>

#include "core/base/json.hpp"
#include "core/runtime/target.hpp"
#include "core/study/shipped_studies.hpp"
#include "core/study/study_report.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/study_run.hpp"
#include "native/host/study_folder.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr double study_budget_s = 15.0 * 60.0;

struct StudyOptions {
  std::string study, out;
  std::string budget;
  std::vector<std::string> targets;
  bool full = false;
  bool quiet = false;
  std::int64_t samples = 0;
  std::int64_t repetitions = 0;
  RunnerOptions runner;
};

/// "15m", "90s", "2h", or seconds.
Result<double> seconds_of(const std::string& text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "h" ? 3600.0 : unit == "m" ? 60.0 : unit == "s" || unit.empty() ? 1.0 : 0.0;
  if (error != std::errc() || factor == 0.0 || !std::isfinite(number) || number <= 0.0)
    return bad_input(fmt::format("--budget {}: expected a time such as 15m, 90s or 2h", text));
  return number * factor;
}

std::string shipped_names() {
  std::string names;
  for (const ShippedStudy& study : shipped_studies())
    names += (names.empty() ? "" : ", ") + std::string(study.name);
  return names;
}

struct GivenStudy {
  documents::Study study;
  std::string text;
  fs::path folder;  ///< of relative paths
};

Result<std::string> study_text_of(const fs::path& path) {
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<GivenStudy> given_study(const std::string& name) {
  GivenStudy given;
  for (const ShippedStudy& study : shipped_studies())
    if (study.name == name) given.text = study.text;
  if (given.text.empty()) {
    if (!fs::exists(name))
      return bad_input(
          fmt::format("{}: there is no such file, and no study of this name; those that are shipped: {}",
                      name, shipped_names()));
    DRIFTSCOPE_TRY(given.text, study_text_of(name));
    given.folder = fs::path(name).parent_path();
  }
  auto study = read_study(given.text);
  if (!study.ok()) return in_context(std::move(study).error(), name);
  given.study = *std::move(study);
  return given;
}

/// What options change of a study.
Status apply_options(const StudyOptions& options, documents::Study& study) {
  if (!options.targets.empty()) {
    study.targets.clear();
    for (const std::string& list : options.targets) {
      DRIFTSCOPE_TRY(const auto targets, parse_targets(list));
      for (const Target& target : targets) study.targets.push_back(target.text());
    }
    std::erase_if(study.claims, [&](const documents::StudyClaim& claim) {
      return std::ranges::find(study.targets, claim.left) == study.targets.end();
    });
  }
  if (options.samples > 0) study.samples = options.samples;
  if (options.repetitions > 0) study.repetitions = options.repetitions;
  return {};
}

std::string study_json(const documents::Study& study) {
  nlohmann::ordered_json document = {{"format", "driftscope-study-1"}};
  document.update(encode(study));
  return json_text(document, 1) + "\n";
}

/// The studies of a folder, from its files alone: nothing is opened that they name.
Status report_study(const fs::path& folder) {
  DRIFTSCOPE_TRY(const StudyView view, read_study_folder(folder));
  const std::vector<StudyTable> tables = study_tables(view);
  const std::string shown = study_text(view, tables);
  DRIFTSCOPE_CHECK(write_file(folder / "report.txt", shown));
  DRIFTSCOPE_CHECK(write_file(folder / "report.html", study_report(view, tables)));
  for (const StudyTable& table : tables) {
    DRIFTSCOPE_CHECK(write_file(folder / (table.id + ".csv"), table_csv(table)));
    DRIFTSCOPE_CHECK(write_file(folder / (table.id + ".tex"), table_latex(table)));
  }
  print_out("{}", shown);
  print_out("report: {} (and .txt, a .csv and a .tex for each table)\n", (folder / "report.html").string());
  return {};
}

Result<Exit> run_study_command(const StudyOptions& options) {
  DRIFTSCOPE_TRY(GivenStudy given, given_study(options.study));
  DRIFTSCOPE_CHECK(apply_options(options, given.study));
  StudyRunOptions how;
  how.runner = options.runner;
  if (!options.full) {
    DRIFTSCOPE_TRY(how.budget_seconds,
                   options.budget.empty() ? Result<double>(study_budget_s) : seconds_of(options.budget));
  }
  DRIFTSCOPE_TRY(const auto files, open_study_files(given.study, given.folder, options.runner));
  const fs::path out = options.out;
  if (fs::exists(out) && !fs::is_directory(out))
    return bad_input(fmt::format(
        "--out {}: expected a folder, which is made where it is not there; it is a file", options.out));
  DRIFTSCOPE_CHECK(make_folders(out));
  DRIFTSCOPE_TRY(const auto store, open_study_store(given.study, *files, out, options.runner));
  DRIFTSCOPE_CHECK(write_file(out / study_file_name, study_json(given.study)));
  DRIFTSCOPE_CHECK(
      write_file(out / study_sizes_name, json_text(nlohmann::json(study_file_bytes(*files))) + "\n"));
  // The first Ctrl-C ends after what is running, the second one at once; what is done is kept either way.
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  SignalWatcher::on_stop([stopped] { *stopped = true; });
  ProgressLine line(options.quiet);
  how.stopped = [stopped] { return stopped->load(); };
  how.progress = [&](const StudyProgress& progress) {
    line.update(progress.what, progress.done.samples, progress.total.samples, progress.seconds_left);
  };
  const auto finished = run_study(given.study, *files, *store, how);
  line.clear();
  SignalWatcher::on_stop(nullptr);
  if (!finished.ok()) return finished.error();
  DRIFTSCOPE_CHECK(report_study(out));
  if (!*finished)
    print_out("not all samples have run; the same command goes on{}\n",
              options.full ? "" : ", --full until the end");
  return stopped->load() ? Exit::interrupted : Exit::ok;
}

Status list_studies() {
  for (const ShippedStudy& shipped : shipped_studies()) {
    DRIFTSCOPE_TRY(const documents::Study study, read_study(shipped.text));
    print_out("{}\n  {}\n  {}\n  models {}; targets {}\n\n", shipped.name, study.title, study.about,
              study.models.size(), fmt::join(study.targets, ", "));
  }
  return {};
}

void add_study_run(CLI::App& app, StudyOptions& options) {
  app.add_option("STUDY", options.study, "A study of this build (study list), or a file (docs/studies.md)")
      ->required();
  app.add_option("-o,--out", options.out, "The folder of its results; begun, or gone on with")->required();
  auto* const budget =
      app.add_option("--budget", options.budget, "Ends after this time: 15m (default), 90s, 2h");
  app.add_flag("--full", options.full, "Runs until every sample and repetition is done")->excludes(budget);
  app.add_option("--targets", options.targets, "Instead of those of the study, separated by commas")
      ->expected(1)
      ->take_all();
  app.add_option("--samples", options.samples, "At most so many of each data set")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--repetitions", options.repetitions, "Measurements of time, each in a session of its own")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--quiet", options.quiet, "No progress line");
  add_runner_options(app, options.runner);
}

}  // namespace

namespace commands::study {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<StudyOptions>();
  app.require_subcommand(1);
  CLI::App* const list_app = app.add_subcommand("list", "The studies of this build.");
  CLI::App* const run_app = app.add_subcommand("run", "Run a study, or go on with it, and report.");
  CLI::App* const report_app = app.add_subcommand("report", "Write the tables of what has run so far again.");
  add_study_run(*run_app, *options);
  report_app->add_option("DIR", options->out, "The folder of 'study run --out'")->required();
  app.footer(
      "A study runs models on targets over labelled data: accuracy with its interval, time and memory, "
      "beside\n"
      "the tables and claims of a published study. It may be ended at any moment; the same command goes "
      "on.\n\n"
      "  driftscope study run deployment --out results            # 15 minutes\n"
      "  driftscope study run mine.json --out results --full\n"
      "  driftscope study report results");
  return [options, list_app, run_app] {
    const auto exit = [&]() -> Result<Exit> {
      if (run_app->parsed()) return run_study_command(*options);
      DRIFTSCOPE_CHECK(list_app->parsed() ? list_studies() : report_study(options->out));
      return Exit::ok;
    }();
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 45,
             .name = "study",
             .summary = "Run a study of models on targets, and print its tables.",
             .declare = declare});
}

}  // namespace commands::study

}  // namespace driftscope
