// Runs a model for the checks of deployment: once on pc/strict to see the range of every value, and on each
// target for its outputs and, again and again, for its memory. Client: driftscope doctor.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/deploy/deploy_runs.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct DeploymentRunRequest {
  std::vector<std::string> inputs;   ///< as read_inputs takes them
  std::vector<std::string> targets;  ///< "chrome/fast", …
  std::int64_t memory_runs = 200;    ///< over at most so many memory is watched; 0: it is not
  RunnerOptions runner;
};

/// Called with what is going on ("chrome/fast: starting the browser"), and how much of it is done.
using DeploymentProgress =
    std::function<void(const std::string& step, std::int64_t done, std::int64_t total)>;

/// A target that fails has its failure in the result. Errors: of the inputs and of targets' names.
[[nodiscard]] Result<DeployRuns> run_deployment(const ModelFile& model, const DeploymentRunRequest& request,
                                                const DeploymentProgress& progress);

}  // namespace driftscope
