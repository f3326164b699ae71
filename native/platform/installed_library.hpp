// Where a shared library is that tools/setup installs with npm. Clients: what loads one when it is needed.
#pragma once

#include <string>
#include <string_view>

namespace driftscope {

/// The file that the environment variable names; else the one of this name in the installation's
/// lib/driftscope; else `in_modules` below a folder above this program, or in
/// the clone that it was built from; else `system_name`, for the system's loader to find.
[[nodiscard]] std::string installed_library(const char* variable, std::string_view in_modules,
                                            const char* system_name);

}  // namespace driftscope
