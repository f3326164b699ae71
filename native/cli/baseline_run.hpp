// The files of baselines, and times measured like a baseline's: in fresh starts. Clients: compare
// (--baseline), baseline.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/checks/baseline.hpp"
#include "core/checks/checks.hpp"
#include "core/runtime/target.hpp"
#include "native/host/model_file.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

/// "lenet5.baseline.json" beside the model.
[[nodiscard]] std::filesystem::path default_baseline(const std::filesystem::path& model);

/// Errors: no such file (says how to make it), a damaged one, one of another model.
[[nodiscard]] Result<Baseline> load_baseline(const std::filesystem::path& path, const ModelFile& model);

[[nodiscard]] BaselineMachine this_machine();

struct StartsRequest {
  std::filesystem::path model;
  std::vector<std::string> inputs;
  std::vector<Target> targets;
  int starts = 5;
  double seconds = 1.0;
  RunnerOptions runner;
  bool quiet = false;
};

/// The median of each start, by target: processes and browsers are started again each time, since what
/// changes from start to start (addresses, clocks, caches) is noise that no single start shows.
[[nodiscard]] Result<std::map<std::string, std::vector<double>>> measure_starts(const StartsRequest& request);

/// The data to check against `baseline`. Times are measured only if the conditions need them and this is
/// the machine that the baseline was measured on.
[[nodiscard]] Result<BaselineCheck> baseline_check(Baseline baseline, const ComparisonView& view,
                                                   const FailOn& conditions, const ModelFile& model,
                                                   const RunnerOptions& runner, bool quiet);

}  // namespace driftscope
