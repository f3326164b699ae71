// A verification as the JSON of `driftscope verify --json` (format driftscope-verify-1).
// Clients: command line, view_json. JSON knows neither infinity nor NaN: infinities are written as
// ±1.7976931348623157e308, the largest double, so that they still compare; NaN is null.
#pragma once

#include <string>

#include "core/base/json_writer.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// Writes one JSON object. Beside the keys of the format a layer has "shape", "group" (nodes that were not
/// recorded and were judged with it), "findings" (finding_json.hpp) and "reason", their sentence, and with
/// --budgets SUITE the object SUITE: "operators", "metric" ("ulp" or "absolute"), "budget", "seen", "within".
/// Where runs were compared, "repeat_check" has "runs", "values", "agree", "text", "groups" of runs that
/// agree, and "different", the first and the last run that differs from run 1. `names`: how values were
/// matched by other names, when they were.
void write_verification(JsonWriter& out, const Verification& verification, const std::string& names = "");

/// The same as a text.
[[nodiscard]] std::string verification_json(const Verification& verification);

}  // namespace driftscope
