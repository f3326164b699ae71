#include "core/protocol/error_json.hpp"

#include <algorithm>

#include "core/base/error_kind.hpp"
#include "core/protocol/error_message.hpp"

namespace driftscope {
namespace {

constexpr std::size_t max_message = std::size_t{32} << 10;

// What is left out is said.
std::string bounded(const std::string& text) {
  if (text.size() <= max_message) return text;
  std::size_t end = max_message;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;  // within a code point
  return text.substr(0, end) + " … (" + std::to_string(text.size() - end) + " more bytes are left out)";
}

// Both enumerations have the same order: the schema's names are those of the kinds.
static_assert(std::ranges::equal(messages::error_kind_choices, error_kind_names));

}  // namespace

messages::Error error_message(const Error& error) {
  return {static_cast<messages::ErrorKind>(error.kind), error.message};
}

Error error_of(const messages::Error& message) {
  return {static_cast<ErrorKind>(message.kind), bounded(message.message)};
}

nlohmann::json error_to_json(const Error& error) { return error_message(error); }

Error error_from_json(const nlohmann::json& value) {
  messages::Error message{messages::ErrorKind::internal, "an error without a message"};
  if (!value.is_object()) return error_of(message);
  if (const auto kind = value.find("kind"); kind != value.end() && kind->is_string())
    message.kind =
        messages::named<messages::ErrorKind>(kind->get_ref<const std::string&>()).value_or(message.kind);
  if (const auto text = value.find("message"); text != value.end() && text->is_string())
    message.message = text->get<std::string>();
  return error_of(message);
}

}  // namespace driftscope
