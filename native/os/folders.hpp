// Folders whose names survive a loss of power: a file's own flush does not keep its name. Clients:
// atomic_file, and whatever makes a folder to keep.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"

namespace driftscope {

/// The folder that holds `path`: "." for a bare name.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

/// Writes the names in a folder to the disk. The error is the system's message alone.
[[nodiscard]] Status flush_folder(const std::filesystem::path& folder);

/// Makes the folder and those above it, and flushes their names. Errors name the one that could not be made.
[[nodiscard]] Status make_folders(const std::filesystem::path& folder);

}  // namespace driftscope
