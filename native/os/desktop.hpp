// The user's desktop. Clients: serve, the browser Firefox.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace driftscope {

/// Passes the URL to the desktop. The started program is the user's own and is left alone.
[[nodiscard]] Status open_with_desktop(const std::string& url);

/// Whether windows are those of X, of which there can be a display that nobody sees (Xvfb).
[[nodiscard]] bool has_x_windows();

}  // namespace driftscope
