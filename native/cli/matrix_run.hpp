// The cells of a matrix as a campaign of jobs, and their results. Client: the matrix command.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "generated/documents/matrix_results.hpp"
#include "native/cli/job_campaign.hpp"
#include "native/cli/matrix_files.hpp"

namespace driftscope {

struct MatrixRunOptions {
  std::filesystem::path results;                       ///< folder of the comparisons, KEY.json each
  std::vector<std::string> before = {};                ///< further arguments of every cell
  bool times_here = true;                              ///< false: nothing is timed on this machine's hosts
  std::function<bool(const std::string& host)> alone;  ///< one cell at a time on this host
  std::function<void(const documents::MatrixCell& cell)> found;  ///< one that is bad
};

/// What a store calls the cell.
[[nodiscard]] CampaignCell stored_cell(const MatrixFiles& files, const MatrixPlace& cell);

/// Budget, stop and progress are left to the caller. Both must outlive it.
[[nodiscard]] JobCampaign matrix_campaign(const MatrixFiles& files, const MatrixRunOptions& options);

/// The cells that have a result, in the matrix's order.
[[nodiscard]] Result<documents::MatrixResults> results_of(const MatrixFiles& files,
                                                          const CampaignStore& store);

}  // namespace driftscope
