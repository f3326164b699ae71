// The service's responses about a finished run and about this build. Client: service.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

/// Layers, the graph's outputs (by name) with their first values, what ran.
[[nodiscard]] messages::FinishResponse describe_trace(const Trace& trace,
                                                      const std::vector<std::string>& outputs);

/// The engines, each with its description (EngineInfo) and whether it can run here.
[[nodiscard]] messages::CapabilitiesResponse describe_build();

}  // namespace driftscope
