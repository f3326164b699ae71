// The shaders of a node as text for a bug report: comments, and the sources as they are. Client: run.
#pragma once

#include <string>

#include "core/runtime/programs.hpp"

namespace driftscope {

/// `engine`: its name, for what it leaves to strict.
[[nodiscard]] std::string programs_text(const NodePrograms& of, std::string_view engine);

}  // namespace driftscope
