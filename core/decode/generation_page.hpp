// The results of `driftscope generate` as a self-contained HTML page. Clients: the command.
#pragma once

#include <string>

#include "generated/documents/generate.hpp"

namespace driftscope {

/// Targets with times, tokens that differ and why, a map of steps and layers for each target.
[[nodiscard]] std::string generation_page(const documents::Generate& results);

}  // namespace driftscope
