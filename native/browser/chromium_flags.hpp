// What every start of a Chromium has in common. Clients: browsers, browser_features.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace driftscope {

/// Headless, on a profile of its own, without prompts, and with no connection except to 127.0.0.1: no name is
/// looked up, and any remaining request goes to a closed port.
[[nodiscard]] std::vector<std::string> chromium_flags(const std::filesystem::path& profile);

}  // namespace driftscope
