// The user's own programs. Client: serve.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace driftscope {

/// Passes the URL to the desktop. The started program is the user's own and is left alone.
[[nodiscard]] Status open_with_desktop(const std::string& url);

}  // namespace driftscope
