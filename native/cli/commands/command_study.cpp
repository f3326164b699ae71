// driftscope study list | run NAME|FILE.json|all --out DIR [--budget 15m|--full] | report DIR
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>

#include "core/base/json.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/target.hpp"
#include "core/study/claim.hpp"
#include "core/study/shipped_studies.hpp"
#include "core/study/study_report.hpp"
#include "native/cli/commands/batch_options.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/duration_option.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/study_cluster.hpp"
#include "native/host/study_folder.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"
#include "native/os/signal_watcher.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr double study_budget_s = 15.0 * 60.0;
/// In place of a study: all that are shipped, each in a folder of its own.
constexpr std::string_view all_studies = "all";
constexpr int default_jobs = 2;

struct StudyOptions {
  std::string study, out;
  std::string budget;
  std::vector<std::string> targets;
  bool full = false;
  bool retry_failed = false;
  bool as_published = false;
  std::string cluster;  ///< a Dask scheduler's address; empty: this machine
  int jobs = 0;         ///< 0: as many as there are processors, two at most
  bool quiet = false;
  std::int64_t samples = 0;
  std::int64_t repetitions = 0;
  RunnerOptions runner;
};

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
      return bad_input(fmt::format(
          "{}: there is no such file, and no study of this name; those that are shipped: {}; all of "
          "them: {}",
          name, shipped_names(), all_studies));
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
    for (documents::StudyAttack& attack : study.attacks)
      if (std::ranges::find(study.targets, attack.on) == study.targets.end()) attack.on.clear();
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

/// What a page of several studies says of one.
struct ReportedStudy {
  std::string folder, title, about;
  std::int64_t cells = 0, failed = 0;
  std::map<std::string, std::int64_t> claims;  ///< by answer
};

/// The study of a folder, from its files alone: nothing is opened that they name.
Result<ReportedStudy> report_study(const fs::path& folder, bool as_published) {
  DRIFTSCOPE_TRY(const StudyView view, read_study_folder(folder));
  const std::vector<StudyTable> tables = study_tables(view, as_published);
  const std::string shown = study_text(view, tables);
  DRIFTSCOPE_CHECK(write_file(folder / "report.txt", shown));
  DRIFTSCOPE_CHECK(write_file(folder / "report.html", study_report(view, tables)));
  for (const StudyTable& table : tables) {
    DRIFTSCOPE_CHECK(write_file(folder / (table.id + ".csv"), table_csv(table)));
    DRIFTSCOPE_CHECK(write_file(folder / (table.id + ".tex"), table_latex(table)));
  }
  print_out("{}", shown);
  print_out("report: {} (and .txt, a .csv and a .tex for each table)\n", (folder / "report.html").string());
  ReportedStudy reported{.folder = folder.filename().string(),
                         .title = view.study().title,
                         .about = view.study().about,
                         .cells = view.results().cells,
                         .failed = view.results().failed,
                         .claims = {}};
  for (const documents::StudyClaim& claim : view.study().claims)
    for (const ClaimCheck& check : check_claim(view, claim))
      ++reported.claims[std::string(claim_answer_text(check.answer))];
  return reported;
}

/// The folders in this one that hold a study, by name.
std::vector<fs::path> studies_in(const fs::path& folder) {
  std::vector<fs::path> studies;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (fs::exists(entry->path() / study_store_name)) studies.push_back(entry->path());
  std::ranges::sort(studies);
  return studies;
}

/// A folder of one study, or of several, which then has a page that leads to theirs.
Status report_folder(const fs::path& folder, bool as_published) {
  const std::vector<fs::path> studies = studies_in(folder);
  if (fs::exists(folder / study_file_name) || studies.empty()) {
    const auto reported = report_study(folder, as_published);
    return reported.ok() ? Status() : Status(reported.error());
  }
  std::vector<StudySummary> summaries;
  for (const fs::path& study : studies) {
    DRIFTSCOPE_TRY(const ReportedStudy one, report_study(study, as_published));
    summaries.push_back({one.folder, one.title, one.about, one.cells, one.failed, one.claims});
    print_out("\n");
  }
  DRIFTSCOPE_CHECK(write_file(folder / "index.html", studies_index(summaries)));
  print_out("all studies: {}\n", (folder / "index.html").string());
  return {};
}

/// Ctrl-C: the first ends after what is running, the second one at once; what is done is kept either way.
using Stopped = std::shared_ptr<std::atomic<bool>>;

/// Runs a study in its folder; whether it is done.
Result<bool> run_in_folder(const StudyOptions& options, const GivenStudy& given, const fs::path& out,
                           std::optional<double> budget, const Stopped& stopped) {
  StudyRunOptions how;
  how.runner = options.runner;
  how.budget_seconds = budget;
  how.jobs = options.jobs > 0 ? options.jobs : std::clamp(usable_processors(), 1, default_jobs);
  how.stopped = [stopped] { return stopped->load(); };
  const auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<JobPool> pool;
  if (!options.cluster.empty()) {
    DRIFTSCOPE_TRY(pool, connect_cluster(options.cluster));
  }
  DRIFTSCOPE_TRY(const auto files, open_study_files(given.study, given.folder, options.runner));
  if (fs::exists(out) && !fs::is_directory(out))
    return bad_input(fmt::format(
        "--out {}: expected a folder, which is made where it is not there; it is a file", out.string()));
  DRIFTSCOPE_CHECK(make_folders(out));
  files->out = out;
  ProgressLine line(options.quiet);
  DRIFTSCOPE_CHECK(make_study_data(
      *files, given.folder, options.runner,
      [&](const std::string& what, std::int64_t made, std::int64_t all) { line.update(what, made, all); },
      how.stopped));
  DRIFTSCOPE_TRY(const auto store, open_study_store(given.study, *files, options.runner));
  if (options.retry_failed) DRIFTSCOPE_CHECK(store->remove(failed_cells(store->results())));
  DRIFTSCOPE_CHECK(write_file(out / study_file_name, study_json(given.study)));
  DRIFTSCOPE_CHECK(write_file(out / study_sizes_name, json_text(nlohmann::json(files->bytes())) + "\n"));
  if (how.budget_seconds)
    *how.budget_seconds -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  how.progress = [&](const StudyProgress& progress) {
    const auto amount = [](const StudySchedule::Amount& of) {
      return of.samples + of.measurements + of.attacks;
    };
    line.update(progress.what, amount(progress.done), amount(progress.total), progress.seconds_left);
  };
  if (pool != nullptr) return run_study_jobs(given.study, *files, *store, how, *pool);
  return run_study(given.study, *files, *store, how);
}

Result<Exit> run_study_command(const StudyOptions& options) {
  std::vector<std::string> names = {options.study};
  const fs::path out = options.out;
  const bool several = options.study == all_studies && !fs::exists(options.study);
  if (several) {
    names.clear();
    for (const ShippedStudy& study : shipped_studies()) names.emplace_back(study.name);
  }
  std::optional<double> budget;
  if (!options.full) {
    DRIFTSCOPE_TRY(budget, options.budget.empty() ? Result<double>(study_budget_s)
                                                  : seconds_of("--budget", options.budget));
  }
  if (several && fs::exists(out / study_file_name))
    return bad_input(
        fmt::format("--out {}: it is the folder of one study; all of them need another", options.out));
  std::vector<GivenStudy> studies;
  for (const std::string& name : names) {
    DRIFTSCOPE_TRY(GivenStudy given, given_study(name));
    DRIFTSCOPE_CHECK(apply_options(options, given.study));
    studies.push_back(std::move(given));
  }
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  SignalWatcher::on_stop([stopped] { *stopped = true; });
  const auto begin = std::chrono::steady_clock::now();
  bool done = true;
  for (std::size_t i = 0; i < studies.size() && !*stopped; ++i) {
    std::optional<double> share;
    if (budget) {
      // What the studies before did not need is for those that follow.
      const double used = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      share = std::max(0.0, *budget - used) / static_cast<double>(studies.size() - i);
    }
    const auto finished = run_in_folder(options, studies[i], several ? out / names[i] : out, share, stopped);
    if (!finished.ok() && finished.error().kind != ErrorKind::cancelled) {
      SignalWatcher::on_stop(nullptr);
      return several ? in_context(finished.error(), names[i]) : finished.error();
    }
    done = done && finished.ok() && *finished;
  }
  done = done && !*stopped;
  SignalWatcher::on_stop(nullptr);
  if (!fs::exists(out / study_file_name) && studies_in(out).empty()) return Exit::interrupted;
  DRIFTSCOPE_CHECK(report_folder(out, options.as_published));
  if (!done)
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
  app.add_option(
         "STUDY", options.study,
         "A study of this build (study list), a file (docs/studies.md), or all: every one of this build, "
         "each in a folder of its own")
      ->required();
  app.add_option("-o,--out", options.out, "The folder of its results; begun, or gone on with")->required();
  auto* const budget =
      app.add_option("--budget", options.budget, "Ends after this time: 15m (default), 90s, 2h");
  app.add_flag("--full", options.full, "Runs until every sample and repetition is done")->excludes(budget);
  app.add_flag("--retry-failed", options.retry_failed,
               "Cells that failed run again; without it their reasons stay");
  auto* const jobs =
      app.add_option(
             "--jobs", options.jobs,
             "Cells at a time, each on a host of its own; times are measured alone. By default one for each "
             "processor, two at most")
          ->check(CLI::Range(1, 64));
  app.add_option(
         "--cluster", options.cluster,
         "Address of a Dask scheduler, as tcp://10.0.0.5:8786: its workers run the cells, several at a time, "
         "and times alone; models and samples travel there (docs/cluster.md)")
      ->excludes(jobs);
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
  for (CLI::App* const one : {run_app, report_app})
    one->add_flag("--as-published", options->as_published,
                  "Slips of the publications are reprinted as they are, not corrected");
  app.footer(
      "A study runs models on targets over labelled data: accuracy with its interval, time and memory, "
      "beside\n"
      "the tables and claims of a published study. It may be ended at any moment; the same command goes "
      "on.\n\n"
      "  driftscope study run deployment --out results            # 15 minutes\n"
      "  driftscope study run deployment --out results --retry-failed\n"
      "  driftscope study run all --out studies --budget 1h\n"
      "  driftscope study run mine.json --out results --full\n"
      "  driftscope study run mine.json --out results --full --cluster tcp://10.0.0.5:8786\n"
      "  driftscope study report results");
  return [options, list_app, run_app] {
    const auto exit = [&]() -> Result<Exit> {
      if (run_app->parsed()) return run_study_command(*options);
      DRIFTSCOPE_CHECK(list_app->parsed() ? list_studies()
                                          : report_folder(options->out, options->as_published));
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
