// driftscope conformance [--targets T[,T…]] [--filter GLOB] [--json OUT] [--store STORE]
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/rng.hpp"
#include "core/runtime/engine.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/cli/commands/store_option.hpp"
#include "native/cli/conformance_run.hpp"
#include "native/cli/result_store.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

/// The engines that give the same bits everywhere, the reference first.
std::vector<const EngineInfo*> exact_engines() {
  std::vector<const EngineInfo*> found;
  for (const auto& engine : engines()) {
    const EngineInfo& info = engine->info();
    if (!info.same_bits_everywhere || !runs_on(info, default_host())) continue;
    found.insert(info.kind == EngineKind::reference ? found.begin() : found.end(), &info);
  }
  return found;
}

std::string default_targets() {
  std::string targets;
  for (const EngineInfo* engine : exact_engines())
    targets += (targets.empty() ? "" : ",") + default_target(engine->name);
  return targets;
}

std::string footer_text() {
  std::vector<std::string_view> names;
  for (const EngineInfo* engine : exact_engines()) names.push_back(engine->name);
  return fmt::format(
      "A case passes when every output is within 1e-7 + 1e-3·|expected| (the tolerance of ONNX's own\n"
      "runner); integers must be equal. Targets of the same engine are also compared bit by bit where\n"
      "that engine gives the same bits everywhere: {}. Unsupported cases are counted separately\n"
      "and listed with the reason.\n\n"
      "  driftscope conformance --targets pc/strict,chrome/strict --filter '*conv*'\n\n"
      "With --store an interrupted run (Ctrl-C, a crash, a loss of power) goes on where it ended when the\n"
      "command is repeated; a file of other cases, of another build or of another processor is refused, and "
      "a\n"
      "database keeps these beside it:\n"
      "  driftscope conformance --store sqlite:results.db\n"
      "A host that was updated runs its cases again.\n\n"
      "Exit code 1: a case failed, or the same engine gave other bits elsewhere; 3: a browser is\n"
      "missing here.",
      fmt::join(names, ", "));
}

struct ConformanceOptions {
  std::vector<std::string> targets = {default_targets()};
  std::string data;
  std::string filter;
  std::size_t sample = 0;
  std::uint64_t seed = 42;
  std::string json;
  std::string store;
  bool quiet = false;
  RunnerOptions runner;
};

/// A seeded part of the cases, in their order.
void keep_sample(std::vector<std::filesystem::path>& folders, std::size_t sample, std::uint64_t seed) {
  if (sample == 0 || sample >= folders.size()) return;
  Rng rng(seed);
  std::vector<std::filesystem::path> kept;
  std::size_t left = folders.size();
  for (const auto& folder : folders) {
    // Selection sampling: each case is taken with the probability (still wanted) ÷ (remaining).
    if (rng.below(left--) < sample - kept.size()) kept.push_back(folder);
  }
  folders = std::move(kept);
}

Exit exit_of_all(const std::vector<TargetResults>& all) {
  Exit exit = Exit::ok;
  for (const TargetResults& results : all) {
    if (results.error) {
      print_error(in_context(*results.error, results.target.text()));
      if (exit != Exit::fault) exit = exit_of(*results.error);
    }
    for (const CaseResult& result : results.cases)
      if (result.outcome == Outcome::failed || !result.same_bits.value_or(true)) exit = Exit::fault;
  }
  return exit;
}

/// With a store little is lost with the process; else all cases of a target are given to it at once.
std::optional<double> batch_seconds(const ConformanceOptions& options) {
  return options.store.empty() ? std::nullopt : std::optional(resumable_batch_seconds);
}

Result<Exit> run_conformance(const ConformanceOptions& options) {
  DRIFTSCOPE_TRY(const auto targets, read_targets(options.targets));
  DRIFTSCOPE_TRY(auto folders,
                 find_cases(options.data.empty() ? conformance_folder() : std::filesystem::path(options.data),
                            options.filter));
  keep_sample(folders, options.sample, options.seed);
  ProgressLine line(options.quiet);
  std::vector<ConformanceCase> cases;
  for (const auto& folder : folders) {
    line.update("reading the cases", static_cast<std::int64_t>(cases.size()),
                static_cast<std::int64_t>(folders.size()));
    cases.push_back(load_case(folder));
  }
  std::unique_ptr<CampaignStore> store = std::make_unique<MemoryStore>();
  std::vector<std::string> names;
  if (!options.store.empty()) {
    names = names_in_store(targets, options.runner);
    DRIFTSCOPE_TRY(store, open_result_store(options.store, "conformance", conformance_fields(cases),
                                            options.runner.site));
  }
  TargetRunner runner(options.runner);
  DRIFTSCOPE_TRY(std::vector<TargetResults> all,
                 run_conformance_cases(runner, targets, cases, {*store, names, batch_seconds(options)},
                                       [&](const Target& target, const CampaignStep& campaign,
                                           std::string_view step, std::int64_t done, std::int64_t total) {
                                         const std::string text = fmt::format("{}: {}", target.text(), step);
                                         if (options.store.empty())
                                           line.update(text, done, total);
                                         else
                                           line.update(text, campaign.done + done, campaign.total.value_or(0),
                                                       campaign.seconds_left);
                                       }));
  compare_bits(all);
  line.clear();
  if (options.json != "-") {
    if (options.sample > 0) print_out("{} cases, chosen with seed {}\n", cases.size(), options.seed);
    print_out("{}\n{}", conformance_findings(all, cases), conformance_table(all, cases));
  }
  if (!options.json.empty()) DRIFTSCOPE_CHECK(write_json(options.json, conformance_json(all, cases) + "\n"));
  return exit_of_all(all);
}

}  // namespace

namespace commands::conformance {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<ConformanceOptions>();
  app.add_option("--targets", options->targets, "host/engine[:option=value,…], separated by commas")
      ->expected(1)
      ->take_all()
      ->capture_default_str();
  app.add_option("--filter", options->filter, "Only cases whose name matches, such as '*lstm*'");
  app.add_option("--sample", options->sample, "Only this many cases, chosen by --seed");
  app.add_option("--seed", options->seed, "Seed of --sample")->capture_default_str();
  app.add_option("--data", options->data,
                 "Folder of the cases, <family>/<case>/model.onnx (default: where the package "
                 "libonnx-testdata puts them)");
  app.add_option("--json", options->json, "Write every result as JSON ('-': standard output)");
  add_store_option(app, options->store, "each result");
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_runner_options(app, options->runner);
  app.footer(footer_text());
  return [options] {
    options->store = chosen_store(options->store);
    const auto exit = run_conformance(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 60,
             .name = "conformance",
             .summary = "Run the ONNX conformance cases on any target.",
             .declare = declare});
}

}  // namespace commands::conformance

}  // namespace driftscope
