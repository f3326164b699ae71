#include "native/cli/commands/batch_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <atomic>

#include "core/matrix/matrix_results.hpp"
#include "native/bench/build_id.hpp"
#include "native/campaign/store_kinds.hpp"
#include "native/cli/commands/duration_option.hpp"
#include "native/cli/commands/store_option.hpp"
#include "native/cli/result_store.hpp"
#include "native/jobs/cluster_pool.hpp"
#include "native/jobs/local_pool.hpp"
#include "native/os/folders.hpp"
#include "native/os/own_program.hpp"
#include "native/os/resource_limits.hpp"
#include "native/os/signal_watcher.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* store_name = "cells.jsonl";

/// Natively the very program: its bits are what "strict" promises. Under Node it is not one file.
std::string build_for_workers() { return own_program().size() == 1 ? build_id() : DRIFTSCOPE_VERSION; }

Result<std::unique_ptr<JobPool>> open_pool(const BatchOptions& options,
                                           std::map<std::string, std::string> environment) {
  if (!options.cluster.empty()) return connect_cluster(options.cluster);
  LocalPool::Options here;
  here.at_a_time = static_cast<std::size_t>(options.jobs);
  here.environment = std::move(environment);
  if (asked_memory() > 0) here.before = {"--max-memory", std::to_string(asked_memory())};
  DRIFTSCOPE_TRY(std::unique_ptr<JobPool> pool, LocalPool::make(std::move(here)));
  return pool;
}

Status remove_failed(CampaignStore& store) {
  std::vector<CampaignCell> failed;
  for (const auto& [cell, line] : store.results()) {
    const auto read = read_cell(line);
    if (!read.ok() || !cell_ran(*read)) failed.push_back(cell);
  }
  return store.remove(failed);
}

}  // namespace

Result<std::unique_ptr<JobPool>> connect_cluster(const std::string& address) {
  DRIFTSCOPE_TRY(std::unique_ptr<JobPool> pool,
                 ClusterPool::connect({.address = address, .build = build_for_workers()}));
  return pool;
}

void add_batch_options(CLI::App& app, BatchOptions& options, const std::string& what) {
  constexpr int most_jobs = 256;
  CLI::Option* const jobs = app.add_option("--jobs", options.jobs,
                                           what + " at a time on this machine, each in processes of its own")
                                ->check(CLI::Range(1, most_jobs))
                                ->capture_default_str();
  app.add_option(
         "--cluster", options.cluster,
         "Address of a Dask scheduler, as tcp://10.0.0.5:8786: its workers do the work, files travel there "
         "(docs/cluster.md)")
      ->excludes(jobs);
  add_store_option(app, options.store, "each result (without it in cells.jsonl in the folder of results)");
  app.add_option("--budget", options.budget,
                 "Begin nothing more after this time: 15m, 90s, 2h (default: all)");
  app.add_flag("--retry-failed", options.retry_failed,
               what + " that could not run are tried again; without it their reasons stay");
}

Result<std::unique_ptr<CampaignStore>> open_batch_store(const BatchOptions& options, const std::string& kind,
                                                        const fs::path& site) {
  std::error_code ignored;
  if (fs::exists(options.out, ignored) && !fs::is_directory(options.out, ignored))
    return bad_input(fmt::format(
        "--out {}: expected a folder, which is made where it is not there; it is a file", options.out));
  DRIFTSCOPE_CHECK(make_folders(options.results()));
  std::string spec = chosen_store(options.store);
  if (spec.empty()) spec = file_store_spec(fs::path(options.out) / store_name);
  // Names of cells have a hash of all that results depend on beside this build and machine.
  DRIFTSCOPE_TRY(auto store, open_result_store(spec, kind, nlohmann::json::object(), site));
  if (options.retry_failed) DRIFTSCOPE_CHECK(remove_failed(*store));
  return store;
}

Result<BatchEnd> run_batch(JobCampaign campaign, CampaignStore& store, const BatchOptions& options,
                           ProgressLine& line, std::map<std::string, std::string> environment) {
  if (!options.budget.empty()) {
    DRIFTSCOPE_TRY(campaign.budget_seconds, seconds_of("--budget", options.budget));
  }
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  campaign.stopped = [stopped] { return stopped->load(); };
  campaign.progress = [&line](const JobCampaign::Progress& progress) {
    line.update(progress.what, progress.done, progress.total, progress.seconds_left);
  };
  DRIFTSCOPE_TRY(const auto pool, open_pool(options, std::move(environment)));
  SignalWatcher::on_stop([stopped] { *stopped = true; });
  const auto done = run_jobs(campaign, store, *pool);
  SignalWatcher::on_stop(nullptr);
  line.clear();
  if (!done.ok()) return done.error();
  if (stopped->load()) return BatchEnd::interrupted;
  return *done ? BatchEnd::done : BatchEnd::unfinished;
}

std::string batch_end_text(const BatchOptions& options, BatchEnd end) {
  return fmt::format("results: {}\n{}", options.results().string(),
                     end == BatchEnd::done ? "" : "not all of it has run; the same command goes on\n");
}

}  // namespace driftscope
