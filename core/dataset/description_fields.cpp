#include "core/dataset/description_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/json.hpp"
#include "core/base/text.hpp"

namespace driftscope {

using nlohmann::json;

Result<json> parse_description_object(std::string_view json_text) {
  constexpr std::string_view format_name = "driftscope-preprocess-1";
  json object = parse_json(json_text);
  if (!object.is_object()) return bad_input("it is not a JSON object");
  DRIFTSCOPE_TRY(const std::string format, description_text(object, "format"));
  if (format != format_name)
    return unsupported(fmt::format("format is {}, expected {}", in_quotes(format), format_name));
  return object;
}

Result<std::string> description_text(const json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_string())
    return bad_input(fmt::format("{} is missing or not a string", key));
  return value->get<std::string>();
}

Result<std::optional<std::int64_t>> description_index(const json& object, const char* key) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 31;
  const auto value = object.find(key);
  if (value == object.end() || value->is_null()) return std::optional<std::int64_t>();
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() >= largest)
    return bad_input(fmt::format("{} is not a whole number from 0 to {}", key, largest - 1));
  return std::optional<std::int64_t>(value->get<std::int64_t>());
}

Result<std::int64_t> description_size(const json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_number_unsigned() || value->get<std::uint64_t>() == 0 ||
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(largest_sample_side))
    return bad_input(fmt::format("{} is missing or not an integer from 1 to {}", key, largest_sample_side));
  return value->get<std::int64_t>();
}

Result<bool> description_flag(const json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end()) return false;
  if (!value->is_boolean()) return bad_input(fmt::format("{} is neither true nor false", key));
  return value->get<bool>();
}

Result<float> description_number(const json& value, const char* key) {
  if (!value.is_number()) return bad_input(fmt::format("{} contains something other than numbers", key));
  const auto rounded = static_cast<float>(value.get<double>());
  if (!std::isfinite(rounded)) return bad_input(fmt::format("{} contains a number beyond float32", key));
  return rounded;
}

Result<std::vector<std::string>> description_texts(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto value = object.find(key);
  if (value == object.end()) return texts;
  if (!value->is_array()) return bad_input(fmt::format("{} is not a list", key));
  for (const json& entry : *value) {
    if (!entry.is_string()) return bad_input(fmt::format("{} contains something other than strings", key));
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

Result<std::size_t> description_choice(const json& object, const char* key,
                                       const std::vector<std::string>& choices) {
  if (!object.contains(key)) return std::size_t{0};
  DRIFTSCOPE_TRY(const std::string text, description_text(object, key));
  const auto found = std::ranges::find(choices, text);
  if (found == choices.end())
    return unsupported(
        fmt::format("{} is {}, expected {}", key, in_quotes(text), fmt::join(choices, " or ")));
  return static_cast<std::size_t>(found - choices.begin());
}

}  // namespace driftscope
