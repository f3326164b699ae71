// Runs a model at levels of an axis until it is known where its result changes. Client: the bisect command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/compare/level_bisect.hpp"
#include "native/host/bisect_axis.hpp"
#include "native/host/inputs.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

struct BisectRequest {
  const ModelFile* model = nullptr;
  NamedInputs inputs;
  Target target;     ///< without the option that is varied
  std::string over;  ///< an axis, or an option of the engine
  std::vector<std::string> levels;
  messages::Capture capture = messages::Capture::fused;
  bool every = false;
  int repeats = 3;
  RunnerOptions runner;
};

/// "pc/ort:opt=none: verifying", and how much of it is done.
using BisectProgress = std::function<void(const std::string& step, std::int64_t done, std::int64_t total)>;

/// Errors: no such option or level, a level's target is not one, a package cannot be fetched, no level ran.
/// That a level fails to load or run is part of the result.
[[nodiscard]] Result<LevelBisect> run_bisect(const BisectRequest& request, const BisectProgress& progress);

}  // namespace driftscope
