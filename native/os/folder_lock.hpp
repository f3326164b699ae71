// How others know that the owner of a temporary folder lives. Client: TempFolder.
#pragma once

#include <filesystem>
#include <string_view>

namespace driftscope {

/// What the names of folders begin with whose lock is of this kind.
extern const std::string_view locked_folder_prefix;

/// A descriptor that keeps the folder, until it is closed or this process ends. -1: another process keeps it,
/// or may.
[[nodiscard]] int lock_folder(const std::filesystem::path& folder);

}  // namespace driftscope
