// The program's cache: $XDG_CACHE_HOME/driftscope, else ~/.cache/driftscope. Clients: browser_features, the
// packages of runtimes.
#pragma once

#include <filesystem>
#include <string_view>

namespace driftscope {

/// Empty where the environment names neither. It need not exist.
[[nodiscard]] std::filesystem::path cache_folder();

/// Where packages of npm are kept; empty as above.
[[nodiscard]] std::filesystem::path package_cache();

/// A package's own folder in package_cache(): "@tensorflow+tfjs-core@4.10.0".
[[nodiscard]] std::filesystem::path package_folder(std::string_view name, std::string_view version);

/// The file in it that lists what was kept; a folder without it is not complete.
inline constexpr std::string_view package_list = "driftscope-package.json";

}  // namespace driftscope
