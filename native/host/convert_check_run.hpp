// Runs an original and a converted model on the same input and checks the conversion (core/convert_check).
// Client: the convert-check command.
#pragma once

#include <string>
#include <vector>

#include "core/convert_check/check_view.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct ConvertCheckRequest {
  std::string a;  ///< a model or a trace (.safetensors)
  std::string b;  ///< a model
  Target target;
  std::vector<std::string> inputs;
  std::string dataset;
  convert::ValueMap map;
  RunnerOptions runner;
};

[[nodiscard]] Result<convert::CheckView> check_conversion(const ConvertCheckRequest& request,
                                                          const TargetProgress& progress);

}  // namespace driftscope
