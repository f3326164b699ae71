// Where the built page is. Clients: what serves it or runs its modules.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"

namespace driftscope {

/// The built site folder: `given` if not empty, else $DRIFTSCOPE_SITE, else beside the folder of this
/// executable that of its preset (build/demo/driftscope → build/demo-web/site) or of the preset web
/// (build/web/site), else share/driftscope/site beside its bin. Errors say where it was looked for and how to
/// build it.
[[nodiscard]] Result<std::filesystem::path> find_site(const std::filesystem::path& given = {});

}  // namespace driftscope
