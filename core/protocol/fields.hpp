// Fields of a request, read with checks: the message names the field, what was expected and what it
// is. Clients: the parts of the service.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// A whole number in [low, high]; nothing when the field is absent.
[[nodiscard]] Result<std::optional<std::int64_t>> read_int(const nlohmann::json& request,
                                                           std::string_view field, std::int64_t low,
                                                           std::int64_t high);

/// A text; nothing when the field is absent.
[[nodiscard]] Result<std::optional<std::string>> read_text(const nlohmann::json& request,
                                                           std::string_view field);

/// A boolean; false when the field is absent.
[[nodiscard]] Result<bool> read_flag(const nlohmann::json& request, std::string_view field);

}  // namespace driftscope
