// Options that say how long. Clients: commands with a budget.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace driftscope {

/// Seconds of "15m", "90s", "2h", or a number of seconds. `option` is named in the error.
[[nodiscard]] Result<double> seconds_of(const std::string& option, const std::string& text);

}  // namespace driftscope
