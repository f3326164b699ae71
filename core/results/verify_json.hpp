// A verification as the JSON of `driftscope verify --json` (format driftscope-verify-1).
// Clients: command line, view_json. JSON knows neither infinity nor NaN: infinities are written as
// ±1.7976931348623157e308, the largest double, so that they still compare; NaN is null.
#pragma once

#include <string>

#include "core/base/json_writer.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// Writes one JSON object; verify_reader.hpp reads it.
void write_verification(JsonWriter& out, const Verification& verification);

/// The same as a text.
[[nodiscard]] std::string verification_json(const Verification& verification);

}  // namespace driftscope
