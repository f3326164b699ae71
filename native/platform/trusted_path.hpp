// Whether what the program loads, runs or serves can be changed by other users. Clients: code that looks for
// an installed file without a configured path.
#pragma once

#include <filesystem>
#include <string>

namespace driftscope {

/// Why `path` must not be trusted: it, or a folder that leads to it, belongs to another user, or others may
/// write to it. Empty: only root, this user and the owner of this program can change it. Links are followed,
/// and folders that lead to this program too are not looked at.
[[nodiscard]] std::string why_untrusted(const std::filesystem::path& path);

/// The same for a folder and all that is in it.
[[nodiscard]] std::string why_untrusted_tree(const std::filesystem::path& folder);

/// Whether an absolute path begins with `folder` or is it, by names alone; both canonical.
[[nodiscard]] bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace driftscope
