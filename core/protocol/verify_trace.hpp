// The service's "judge" and "topology": what a recorded trace of the loaded model is worth, and which node
// reads what. Client: service.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/result.hpp"
#include "core/protocol/load.hpp"

namespace driftscope {

namespace messages {
struct Judge;
}

/// The payload is a trace, behind `left_bytes` of the trace that it is compared with. Answers as `compare
/// --json` does (driftscope-compare-1): with a left one, that one by name alone and this one on the right;
/// else this one on the left. What cannot be judged is in "error".
[[nodiscard]] Result<nlohmann::json> judge_trace(const messages::Judge& request,
                                                 std::span<const std::byte> payload,
                                                 const LoadedModel& model);

}  // namespace driftscope
