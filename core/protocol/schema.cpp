#include "core/protocol/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::size_t max_facts = 64;
constexpr std::size_t max_shown = 60;  // bytes of a value in a message

std::string joined(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string expected_one(const FieldSpec& field) {
  switch (field.kind) {
    case FieldKind::text: return "a string";
    case FieldKind::whole: return fmt::format("a whole number in [{}, {}]", field.low, field.high);
    case FieldKind::number: return "a number";
    case FieldKind::flag: return "true or false";
    case FieldKind::choice: {
      const char* const one = field.choices.size() == 1 ? "" : "one of ";
      return fmt::format("{}\"{}\"", one, fmt::join(field.choices, "\", \""));
    }
    case FieldKind::object: return fmt::format("an object \"{}\"", field.object->title);
    case FieldKind::facts:
      return fmt::format("an object of at most {} strings, numbers or booleans", max_facts);
    case FieldKind::bytes: return "bytes";
    case FieldKind::any: break;
  }
  return "a value";
}

std::string expected(const FieldSpec& field) {
  return field.list ? "a list, each entry " + expected_one(field) : expected_one(field);
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  const std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
  return value.is_string() ? in_quotes(text, max_shown) : text;
}

bool is_whole(const FieldSpec& field, const json& value) {
  if (!value.is_number_integer()) return false;
  if (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) return false;
  const auto number = value.get<std::uint64_t>();
  return number >= field.low && number <= field.high;
}

bool are_facts(const json& value) {
  return value.is_object() && value.size() <= max_facts &&
         std::ranges::all_of(value, [](const json& fact) { return fact.is_primitive(); });
}

// Of an object: whether it is one; its fields are checked afterwards.
bool fits(const FieldSpec& field, const json& value) {
  switch (field.kind) {
    case FieldKind::text: return value.is_string();
    case FieldKind::whole: return is_whole(field, value);
    case FieldKind::number: return value.is_number();
    case FieldKind::flag: return value.is_boolean();
    case FieldKind::choice:
      return value.is_string() &&
             std::ranges::find(field.choices, std::string_view(value.get_ref<const std::string&>())) !=
                 field.choices.end();
    case FieldKind::object: return value.is_object();
    case FieldKind::facts: return are_facts(value);
    case FieldKind::any: return true;
    case FieldKind::bytes: break;
  }
  return false;
}

// The depth is that of the schema, whatever the message holds.
Status check_fields(std::string_view where, const ObjectSpec& spec, const json& value);

Status check_one(std::string_view where, const std::string& name, const FieldSpec& field, const json& value) {
  if (!fits(field, value))
    return bad_input(
        fmt::format("{}: field \"{}\": expected {}, got {}", where, name, expected_one(field), shown(value)));
  if (field.kind != FieldKind::object) return {};
  return check_fields(fmt::format("{}: {}", where, name), *field.object, value);
}

Status check_field(std::string_view where, const FieldSpec& field, const json& value) {
  const std::string name(field.name);
  if (!field.list) return check_one(where, name, field, value);
  if (!value.is_array())
    return bad_input(
        fmt::format("{}: field \"{}\": expected {}, got {}", where, name, expected(field), shown(value)));
  for (std::size_t i = 0; i < value.size(); ++i)
    DRIFTSCOPE_CHECK(check_one(where, fmt::format("{}[{}]", name, i), field, value[i]));
  return {};
}

Status check_fields(std::string_view where, const ObjectSpec& spec, const json& value) {
  if (!value.is_object()) return bad_input(fmt::format("{}: expected a JSON object", where));
  for (const auto& [key, unused] : value.items()) {
    if (std::ranges::find(spec.fields, std::string_view(key), &FieldSpec::name) != spec.fields.end())
      continue;
    std::vector<std::string_view> names;
    for (const FieldSpec& field : spec.fields) names.push_back(field.name);
    return bad_input(fmt::format("{}: unknown field {}; expected {}", where, in_quotes(key, max_shown),
                                 names.empty() ? "none" : joined(names)));
  }
  for (const FieldSpec& field : spec.fields) {
    const auto found = value.find(field.name);
    const bool null =
        found != value.end() && found->is_null() && (field.list || field.kind != FieldKind::any);
    if (found == value.end() || (null && !field.nullable)) {
      if (field.required)
        return bad_input(
            fmt::format("{}: field \"{}\" is missing; expected {}", where, field.name, expected(field)));
    } else if (!null) {
      DRIFTSCOPE_CHECK(check_field(where, field, *found));
    }
  }
  return {};
}

std::string lines_of(const ObjectSpec& spec) {
  std::string text;
  for (const FieldSpec& field : spec.fields) {
    std::string more;
    if (!field.default_text.empty()) more = fmt::format("; default {}", field.default_text);
    if (!field.required && field.default_text.empty()) more = "; optional";
    if (field.nullable) more += "; may be null";
    text += fmt::format("    {}: {}{}\n        {}\n", field.name, expected(field), more, field.doc);
  }
  return text;
}

}  // namespace

std::span<const MessageSpec> message_specs() { return messages::all; }

Status check_object(const ObjectSpec& spec, const json& value) {
  return check_fields(spec.title, spec, value);
}

Status check_response(std::string_view request, const json& response) {
  const auto found = std::ranges::find(messages::all, request, &MessageSpec::name);
  if (found == std::end(messages::all))
    return bad_input(fmt::format("there is no request {}", in_quotes(request)));
  if (response.is_object() && response.size() == 1 && response.contains("error"))
    return check_fields("response \"error\"", messages::error_object, response["error"]);
  return check_object(*found->response, response);
}

std::string schema_text() {
  std::string text(messages::introduction);
  text += "\n";
  const auto payload = [](std::string_view what) {
    return what.empty() ? std::string() : fmt::format("    + payload: {}\n", what);
  };
  for (const MessageSpec& message : messages::all) {
    text += fmt::format("\n{}\n  {}\n", message.name, message.request->doc);
    if (!message.by.empty()) text += fmt::format("  Answered by {}.\n", message.by);
    text += fmt::format("  request\n{}{}", lines_of(*message.request), payload(message.payload));
    text += fmt::format("  response\n{}{}", lines_of(*message.response), payload(message.response_payload));
  }
  text += "\nDocuments\n";
  for (const DocumentSpec& document : messages::documents)
    text += fmt::format("\n{}\n  {}\n  {}\n{}", document.name, document.where, document.fields->doc,
                        lines_of(*document.fields));
  text += "\nEvents of a page's worker\n";
  for (const DocumentSpec& event : messages::events)
    text += fmt::format("\n{}\n  {}\n{}", event.name, event.fields->doc, lines_of(*event.fields));
  text += "\nObjects in these\n";
  for (const ObjectSpec* object : messages::objects)
    text += fmt::format("\n{}\n  {}\n{}", object->title, object->doc, lines_of(*object));
  return text;
}

std::string_view schema_json() { return messages::document; }
std::string_view schema_declarations() { return messages::declarations; }

}  // namespace driftscope
