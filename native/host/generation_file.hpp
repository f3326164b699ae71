// Kept generations: the JSON of `driftscope generate --json`, or the folder of --keep. Client: the window.
#pragma once

#include <filesystem>

#include "core/decode/read_generation.hpp"

namespace driftscope {

[[nodiscard]] bool is_generation(const std::filesystem::path& path);

/// Errors: as of read_generation, with the file's name.
[[nodiscard]] Result<documents::Generate> load_generation(const std::filesystem::path& path);

}  // namespace driftscope
