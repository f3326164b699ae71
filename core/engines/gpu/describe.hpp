// The programs of a plan's nodes, for people. Client: the session.
#pragma once

#include "core/engines/gpu/steps.hpp"
#include "core/runtime/programs.hpp"

namespace driftscope::gpu {

/// Without what only the session knows: language, device, driver. `graph`: the original.
[[nodiscard]] NodePrograms describe_node(const Plan& plan, const Graph& graph, NodeId node);

}  // namespace driftscope::gpu
