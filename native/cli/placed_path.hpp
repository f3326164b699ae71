// Paths in files that people write: studies, matrices. Clients: their readers.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// shipped:models/lenet5.onnx lies in the assets of the page's folder (`site`: as of find_site), others are
/// relative to `folder`, which holds the file. Errors: those of find_site.
[[nodiscard]] Result<std::filesystem::path> placed_path(std::string_view path,
                                                        const std::filesystem::path& folder,
                                                        const std::filesystem::path& site);

}  // namespace driftscope
