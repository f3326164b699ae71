// The results of `driftscope generate` as text. Clients: the command.
#pragma once

#include <string>

#include "generated/documents/generate.hpp"

namespace driftscope {

/// A row for each target, then where tokens differ, then a map of steps and layers where a layer is worse than
/// rounding.
[[nodiscard]] std::string generation_text(const documents::Generate& results);

/// The tokens of each prompt and target, a line each.
[[nodiscard]] std::string token_lines(const documents::Generate& results);

}  // namespace driftscope
