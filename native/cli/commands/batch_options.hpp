// Commands whose work is a campaign of jobs: where jobs run, where results are kept, how long, and what
// Ctrl-C does. Clients: matrix, verify; study for its cluster.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "native/cli/console.hpp"
#include "native/cli/job_campaign.hpp"

namespace CLI {
class App;
}

namespace driftscope {

struct BatchOptions {
  std::string out;      ///< the folder of results
  std::string store;    ///< empty: a file in the folder
  std::string budget;   ///< empty: all cells
  int jobs = 1;         ///< at a time on this machine
  std::string cluster;  ///< a Dask scheduler's address; empty: this machine
  bool retry_failed = false;

  [[nodiscard]] std::filesystem::path results() const { return std::filesystem::path(out) / "results"; }
};

/// All but --out. `what`: a cell, for the help: "Cells", "Traces".
void add_batch_options(CLI::App& app, BatchOptions& options, const std::string& what);

/// Makes the folder, opens the store, and takes cells that did not run out of it, if that is asked for.
/// `site`: as of find_site.
[[nodiscard]] Result<std::unique_ptr<CampaignStore>> open_batch_store(const BatchOptions& options,
                                                                      const std::string& kind,
                                                                      const std::filesystem::path& site);

/// The cluster of --cluster. Errors: those of ClusterPool::connect.
[[nodiscard]] Result<std::unique_ptr<JobPool>> connect_cluster(const std::string& address);

enum class BatchEnd { done, unfinished, interrupted };

/// Gives the campaign budget, stop and progress, and runs it. `environment`: of jobs on this machine.
[[nodiscard]] Result<BatchEnd> run_batch(JobCampaign campaign, CampaignStore& store,
                                         const BatchOptions& options, ProgressLine& line,
                                         std::map<std::string, std::string> environment = {});

/// A sentence on where results are, and whether the command has to go on.
[[nodiscard]] std::string batch_end_text(const BatchOptions& options, BatchEnd end);

}  // namespace driftscope
