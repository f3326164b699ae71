#include "core/base/json_fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/base/json.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t max_shown = 60;  // bytes of a value in a message

std::string shown(const ordered_json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return value.is_string() ? in_quotes(value.get_ref<const std::string&>(), max_shown) : json_text(value);
}

}  // namespace

std::string JsonPath::text() const {
  if (above_ == nullptr) return key_.empty() ? "the document" : std::string(key_);
  const bool outermost = above_->above_ == nullptr && above_->key_.empty();
  const std::string above = outermost ? std::string() : above_->text();
  if (index_) return fmt::format("{}[{}]", above, *index_);
  return above.empty() ? std::string(key_) : fmt::format("{}.{}", above, key_);
}

Error JsonPath::error(std::string_view message) const {
  return bad_input(fmt::format("{}: {}", text(), message));
}

Error JsonPath::expected(std::string_view what, const ordered_json& got) const {
  return error(fmt::format("expected {}, got {}", what, shown(got)));
}

Status read_json(const ordered_json& value, const JsonPath& path, bool& target) {
  if (!value.is_boolean()) return path.expected("true or false", value);
  target = value.get<bool>();
  return {};
}

Status read_json(const ordered_json& value, const JsonPath& path, std::int64_t& target) {
  constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > max))
    return path.expected("a whole number of 64 bits", value);
  target = value.get<std::int64_t>();
  return {};
}

Status read_json(const ordered_json& value, const JsonPath& path, double& target) {
  if (!value.is_number() && !value.is_null()) return path.expected("a number or null", value);
  target = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  if (std::abs(target) == std::numeric_limits<double>::max()) target = std::copysign(INFINITY, target);
  return {};
}

Status read_json(const ordered_json& value, const JsonPath& path, std::string& target) {
  if (!value.is_string()) return path.expected("a string", value);
  target = value.get_ref<const std::string&>();
  return {};
}

Status read_json(const ordered_json& value, const JsonPath& path, ordered_json& target) {
  if (!value.is_object()) return path.expected("an object", value);
  target = value;
  return {};
}

JsonFields::JsonFields(const ordered_json& object, const JsonPath& path) : object_(object), path_(path) {
  if (!object.is_object()) fail(path.expected("an object", object));
}

const ordered_json* JsonFields::find(std::string_view key) {
  if (!object_.is_object()) return nullptr;
  const auto& fields = object_.get_ref<const ordered_json::object_t&>();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t at = next_ + i < fields.size() ? next_ + i : next_ + i - fields.size();
    const auto field = fields.begin() + static_cast<std::ptrdiff_t>(at);
    if (field->first != key) continue;
    next_ = at + 1 < fields.size() ? at + 1 : 0;
    return &field->second;
  }
  return nullptr;
}

const ordered_json* JsonFields::given(std::string_view key) {
  const ordered_json* const value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void JsonFields::fail(Error error) {
  if (ok()) status_ = std::move(error);
}

void JsonFields::outside(std::string_view key, std::int64_t low, std::int64_t high) {
  expected(key, given(key), fmt::format("a whole number in [{}, {}]", low, high));
}

void JsonFields::expected(std::string_view key, const ordered_json* got, std::string_view what) {
  // Without a value the target has its default, which nobody gave.
  if (got != nullptr) fail(JsonPath(path_, key).expected(what, *got));
}

void JsonFields::printable(std::string_view key, const std::string& text) {
  if (ok() && !driftscope::printable(text))
    fail(JsonPath(path_, key).error("it contains control characters"));
}

void JsonFields::printable(std::string_view key, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) printable(key, text);
}

void JsonFields::finite(std::string_view key, double value) {
  if (ok() && !std::isfinite(value)) expected(key, find(key), "a finite number");
}

void JsonFields::at_least(std::string_view key, double value, double low) {
  if (ok() && !(std::isfinite(value) && value >= low))
    expected(key, find(key), fmt::format("a finite number of at least {}", low));
}

void JsonFields::missing(std::string_view key) { fail(path_.error(fmt::format("\"{}\" is missing", key))); }

}  // namespace driftscope
