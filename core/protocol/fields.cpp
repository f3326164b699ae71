#include "core/protocol/fields.hpp"

#include <fmt/format.h>

namespace driftscope {

Result<std::optional<std::int64_t>> read_int(const nlohmann::json& request, std::string_view field,
                                             std::int64_t low, std::int64_t high) {
  const auto found = request.find(field);
  if (found == request.end() || found->is_null()) return std::optional<std::int64_t>();
  // A large unsigned number would turn negative as an int64.
  const bool fits =
      found->is_number_integer() &&
      (!found->is_number_unsigned() || found->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  const std::int64_t value = fits ? found->get<std::int64_t>() : 0;
  if (!fits || value < low || value > high)
    return bad_input(fmt::format("request: \"{}\" must be a whole number from {} to {}", field, low, high));
  return std::optional(value);
}

Result<std::optional<std::string>> read_text(const nlohmann::json& request, std::string_view field) {
  const auto found = request.find(field);
  if (found == request.end() || found->is_null()) return std::optional<std::string>();
  if (!found->is_string()) return bad_input(fmt::format("request: \"{}\" must be a text", field));
  return std::optional(found->get<std::string>());
}

Result<bool> read_flag(const nlohmann::json& request, std::string_view field) {
  const auto given = request.find(field);
  if (given == request.end() || given->is_null()) return false;
  if (!given->is_boolean()) return bad_input(fmt::format("request: \"{}\" must be true or false", field));
  return given->get<bool>();
}

}  // namespace driftscope
