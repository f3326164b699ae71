// This program, to be started once more. Clients: bench and studies, which measure in processes of their own.
#pragma once

#include <string>
#include <vector>

namespace driftscope {

/// The first arguments of a ProcessSpec; the command follows.
[[nodiscard]] std::vector<std::string> own_program();

}  // namespace driftscope
