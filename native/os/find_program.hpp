// Where a program is that others could have put there. Clients: child_process, browsers, npm, Node.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace driftscope {

/// Full path of a program: as given if it contains a slash, else from the folders of PATH that are absolute,
/// unless everybody may replace it (the file or a folder that leads to it). Empty: not found.
/// Of several in PATH the first that `is_meant`.
[[nodiscard]] std::filesystem::path find_program(
    const std::string& name, const std::function<bool(const std::filesystem::path&)>& is_meant = {});
/// Which program of PATH find_program passes over, and why; empty: none.
[[nodiscard]] std::string why_passed_over(const std::string& name);

}  // namespace driftscope
