#include "core/base/json.hpp"

namespace driftscope {
namespace {

template <class Json>
Json parsed_as(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

template <class Json>
std::string text_as(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <class Json>
Result<std::string> exact_text_as(const Json& value, std::string_view what) {
  try {
    return value.dump();
  } catch (const nlohmann::json::exception&) {
    return bad_input(std::string(what) + " holds text that is not UTF-8");
  }
}

}  // namespace

nlohmann::json parse_json(std::string_view text) { return parsed_as<nlohmann::json>(text); }
nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return parsed_as<nlohmann::ordered_json>(text);
}

std::string text_at(const nlohmann::json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string json_text(const nlohmann::json& value, int indent) { return text_as(value, indent); }
std::string json_text(const nlohmann::ordered_json& value, int indent) { return text_as(value, indent); }

Result<std::string> exact_json_text(const nlohmann::json& value, std::string_view what) {
  return exact_text_as(value, what);
}
Result<std::string> exact_json_text(const nlohmann::ordered_json& value, std::string_view what) {
  return exact_text_as(value, what);
}

}  // namespace driftscope
