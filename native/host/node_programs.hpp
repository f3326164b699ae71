// What a target's engine makes for one node of a model, without running it. Client: run --print-shader.
#pragma once

#include <string_view>

#include "core/runtime/programs.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

/// `node`: its name, its label in messages, or the name of one of its outputs. Of the request's plan only the
/// capture counts. Errors: bad_input for an unknown node, unsupported for an engine without shaders; those of
/// the target. Blocking.
[[nodiscard]] Result<NodePrograms> node_programs(TargetRunner& runner, const Target& target,
                                                 const RunRequest& request, std::string_view node,
                                                 const TargetProgress& progress);

}  // namespace driftscope
