// The causal test of a wrong layer, the smallest part that fails, a report for the makers: as the commands
// explain, reduce and repro make them. Client: desktop_host, on its worker.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/gui/layer_work.hpp"
#include "core/gui/recorded_tensors.hpp"
#include "native/host/model_file.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

struct ExaminedLayer {
  gui::LayerTask task;
  const ModelFile* model = nullptr;
  const gui::RecordedTensors* tensors = nullptr;  ///< of the task's target
  RunnerOptions runner = {};
  std::filesystem::path folder;  ///< in which a new folder is made
  std::function<bool()> stopped = {};
};

struct LayerFindings {
  std::string text;
  std::filesystem::path folder;  ///< that was made; empty: none
};

/// Errors: as of CausalTester, reduce_layer, make_report; the target cannot run here.
[[nodiscard]] Result<LayerFindings> examine_layer(const ExaminedLayer& wanted,
                                                  const TargetProgress& progress);

}  // namespace driftscope
