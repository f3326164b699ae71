// What an engine on this PC makes for one node of a model, without running it. Client: run --print-shader.
#pragma once

#include <string_view>

#include "core/runtime/programs.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

/// `node`: its name, its label in messages, or the name of one of its outputs.
[[nodiscard]] Result<NodePrograms> node_programs(const Target& target, const RunRequest& request,
                                                 std::string_view node);

}  // namespace driftscope
