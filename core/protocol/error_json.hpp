// Errors as JSON, {"kind","message"}, and back: their form between a browser and the PC.
// Clients: the service, the HTTP server.
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/result.hpp"

namespace driftscope {

/// {"kind":"bad_input","message":"…"}
[[nodiscard]] nlohmann::json error_to_json(const Error& error);

/// Never fails: an unknown kind becomes `internal`, an absent message is reported, one of more than
/// 32 KiB is cut and says so.
[[nodiscard]] Error error_from_json(const nlohmann::json& value);

}  // namespace driftscope
