// Many traces of a model, each verified by a job of its own. Client: the verify command.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "generated/documents/matrix_results.hpp"
#include "native/cli/job_campaign.hpp"
#include "native/cli/job_parts.hpp"

namespace driftscope {

struct VerifyBatch {
  std::string model;  ///< its file's name
  JobPart part;
  struct TraceFile {
    std::filesystem::path path;
    std::string name;  ///< as it was given
    std::string key;   ///< SHA-256 of model, trace and options
  };
  std::vector<TraceFile> traces;
  std::vector<std::string> options;      ///< of verify, for each
  std::vector<std::string> others = {};  ///< the same, that results do not depend on
  std::filesystem::path results;         ///< folder of the verifications, KEY.json each
  std::function<void(const documents::MatrixCell& cell)> found = {};  ///< a trace that is bad
};

/// Errors: a model or trace that cannot be read, one that is given twice. `step`: a file's name.
[[nodiscard]] Result<VerifyBatch> open_batch(
    const std::string& model, const std::vector<std::string>& traces, std::vector<std::string> options,
    const std::function<void(const std::string& step, std::int64_t done, std::int64_t total)>& step);

/// Budget, stop and progress are left to the caller. The batch must outlive it.
[[nodiscard]] JobCampaign batch_campaign(const VerifyBatch& batch);

/// Those that have a result, in the order in which they were given.
[[nodiscard]] Result<documents::MatrixResults> results_of(const VerifyBatch& batch,
                                                          const CampaignStore& store);

}  // namespace driftscope
