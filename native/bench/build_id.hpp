// Identifies what was measured: the commit, and the bytes built from it. Clients: bench, history.
#pragma once

#include <filesystem>
#include <string>

namespace driftscope {

/// "1dee943-dirty.54ce6dd5": `git describe` when this was built, and the first digits of the SHA-256 of
/// the program that computes: this executable, or the engine that a browser loaded. Without the
/// latter part when the file cannot be read.
[[nodiscard]] std::string build_id(const std::filesystem::path& program = "/proc/self/exe");

}  // namespace driftscope
