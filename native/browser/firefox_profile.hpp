// A fresh Firefox profile without prompts or background requests, with WebGL2 and WebGPU on.
// Client: browsers.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"

namespace driftscope {

/// Makes the folder with a user.js in it.
[[nodiscard]] Status write_firefox_profile(const std::filesystem::path& folder);

}  // namespace driftscope
