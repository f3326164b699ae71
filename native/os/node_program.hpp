// Where Node is, for what runs in it on the PC. Clients: peers in Node, the host "node".
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// $DRIFTSCOPE_NODE, or `node` of PATH. Errors: missing, with what to do. `what` needs it: "TensorFlow.js on
/// the PC".
[[nodiscard]] Result<std::filesystem::path> find_node(std::string_view what);

}  // namespace driftscope
