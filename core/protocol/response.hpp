// What the service says of a finished run and of this build, as JSON. Client: service.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/runtime/engine.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// The reply to "finish": layers, the graph's outputs (by name) with their first values, what ran.
[[nodiscard]] nlohmann::json describe_trace(const Trace& trace, const std::vector<std::string>& outputs);

/// What the engine says of itself (EngineInfo), and whether it can run here.
[[nodiscard]] nlohmann::json describe_engine(const Engine& engine);

/// The reply to "capabilities".
[[nodiscard]] nlohmann::json describe_build();

}  // namespace driftscope
