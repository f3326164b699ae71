// A verification as the JSON of `driftscope verify --json` (format driftscope-verify-1).
// Clients: command line, compare_json. JSON knows neither infinity nor NaN: infinities are written as
// ±1.7976931348623157e308, the largest double, so that they still compare; NaN is null.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/verify/verify.hpp"

namespace driftscope {

/// One JSON object. Beside the keys of the format a layer has "shape", "group" (nodes that were not
/// recorded and were judged with it) and "reason".
[[nodiscard]] std::string verification_json(const Verification& verification);

/// The same as a value, to be put into a larger one.
[[nodiscard]] nlohmann::ordered_json verification_to_json(const Verification& verification);

}  // namespace driftscope
