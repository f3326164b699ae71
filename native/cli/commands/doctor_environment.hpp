// What this machine can run: hosts, engines, browsers, the window. Client: the doctor command without a
// model.
#pragma once

#include <string>

#include "native/cli/console.hpp"

namespace driftscope {

/// A table, or as JSON to the file `json` ("-": the standard output in its place). `missing` if something is
/// not there that runs need.
[[nodiscard]] Exit show_environment(const std::string& json);

}  // namespace driftscope
