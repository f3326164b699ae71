// The results of `compare DIR` as a self-contained HTML page. Clients: the command.
#pragma once

#include <string>

#include "generated/documents/folder.hpp"

namespace driftscope {

/// For each part what is recommended, variants × targets, and what was excluded and why.
[[nodiscard]] std::string folder_page(const documents::Folder& results);

}  // namespace driftscope
