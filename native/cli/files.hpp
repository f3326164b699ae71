// Files of the command line: read whole, written beside and renamed, so that nothing half-written is
// ever left under the name that was asked for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// Errors say which file and what the system said; a directory is no file.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);

/// Writes to a temporary file in the same folder, flushes it to the disk and renames it. On any error
/// (a full disk too) the temporary file is removed and an older file of that name is untouched.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view text);

/// As write_file; "-" is the standard output.
[[nodiscard]] Status write_output(const std::string& path, std::string_view text);

}  // namespace driftscope
