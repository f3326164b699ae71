// The end of a program's log, for a message about why it failed. Clients: xvfb, launcher.
#pragma once

#include <filesystem>
#include <string>

namespace driftscope {

/// The last few lines, without control characters, joined by " | "; "(no output)" when empty.
[[nodiscard]] std::string log_tail(const std::filesystem::path& log);

}  // namespace driftscope
