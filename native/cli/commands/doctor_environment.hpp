// What this machine can run: hosts, engines, browsers, the window. Client: the doctor command without a
// model.
#pragma once

#include <string>

#include "native/cli/console.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

struct EnvironmentRequest {
  bool gpus = false;  ///< also start the GPU engines, to name their devices
  std::string json;   ///< file, or "-": the standard output in place of the table
  bool quiet = false;
  RunnerOptions runner = {};
};

/// A table or JSON. `missing` if something is not there that runs need.
[[nodiscard]] Exit show_environment(const EnvironmentRequest& request);

}  // namespace driftscope
