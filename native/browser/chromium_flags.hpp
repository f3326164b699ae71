// What every start of a Chromium has in common. Clients: browsers, browser_features.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace driftscope {

/// Headless, on a profile of its own, without questions, and without a word to anybody but 127.0.0.1: no name
/// is looked up, and what asks anyway is sent to a port that is closed.
[[nodiscard]] std::vector<std::string> chromium_flags(const std::filesystem::path& profile);

}  // namespace driftscope
