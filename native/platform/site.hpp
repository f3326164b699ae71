// Where the built page is. Clients: what serves it or runs its modules.
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// The built site folder: `given` if not empty, else $DRIFTSCOPE_SITE, else beside the folder of this
/// executable that of its preset (build/demo/driftscope → build/demo-web/site) or of the preset web
/// (build/web/site), else share/driftscope/site beside its bin. Errors say where it was looked for and how to
/// build it.
[[nodiscard]] Result<std::filesystem::path> find_site(const std::filesystem::path& given = {});

/// Where the site of a program in this folder may be, best first: that of its preset, of the preset web, of
/// an installation.
[[nodiscard]] std::vector<std::filesystem::path> sites_beside(const std::filesystem::path& folder);

/// Whether it holds a built page.
[[nodiscard]] bool is_site(const std::filesystem::path& folder);

}  // namespace driftscope
