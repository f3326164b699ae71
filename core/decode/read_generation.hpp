// A kept generation: the JSON of `driftscope generate --json`. Clients: the window, the GUI's page.
#pragma once

#include <string_view>

#include "core/base/result.hpp"
#include "generated/documents/generate.hpp"

namespace driftscope {

/// In a folder: `generate --keep` writes it beside the traces.
inline constexpr std::string_view generation_file = "generate.json";

/// Errors: no JSON, another format, a key is missing or of another kind, no target.
[[nodiscard]] Result<documents::Generate> read_generation(std::string_view json);

}  // namespace driftscope
