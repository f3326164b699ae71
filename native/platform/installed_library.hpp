// Where a shared library is that tools/setup installs with npm. Clients: what loads one when it is needed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// The file that the environment variable names; else the one of this name in the installation's
/// lib/driftscope; else `in_modules` in the clone that it was built from, if this program is in it; else
/// `system_name`, for the system's loader to find. Errors: other users could have replaced the file.
[[nodiscard]] Result<std::string> installed_library(const char* variable, std::string_view in_modules,
                                                    const char* system_name);

}  // namespace driftscope
