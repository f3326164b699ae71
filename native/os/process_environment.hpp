// The environment of a process that is started. Client: ChildProcess.
#pragma once

#include <string>
#include <vector>

#include "native/os/child_process.hpp"

namespace driftscope {

/// "NAME=value" each: ours without what the spec replaces or leaves out, its own, and the marker.
[[nodiscard]] std::vector<std::string> merged_environment(const ProcessSpec& spec, const std::string& marker);

}  // namespace driftscope
