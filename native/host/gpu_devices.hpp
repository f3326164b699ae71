// Which graphics cards the GPU engines really get, on this PC and in each browser: a model of one node runs
// there. Client: doctor --gpus.
#pragma once

#include <string>
#include <vector>

#include "native/host/target_runner.hpp"

namespace driftscope {

struct GpuDevice {
  std::string target;  ///< "chrome/webgpu"
  Result<std::string>
      device;  ///< the adapter's name, with its driver where that is known; or why it did not run
};

/// Of this project's engines, on hosts that are here. Browsers start, one after the other.
[[nodiscard]] std::vector<GpuDevice> gpu_devices(const RunnerOptions& options,
                                                 const TargetProgress& progress);

}  // namespace driftscope
