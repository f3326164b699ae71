#include "core/protocol/error_json.hpp"

#include <array>
#include <utility>

namespace driftscope {
namespace {

constexpr std::size_t max_message = 4096;

constexpr std::array<std::pair<ErrorKind, std::string_view>, 7> kinds = {{
    {ErrorKind::bad_input, "bad_input"},
    {ErrorKind::unsupported, "unsupported"},
    {ErrorKind::limit, "limit"},
    {ErrorKind::missing, "missing"},
    {ErrorKind::io, "io"},
    {ErrorKind::cancelled, "cancelled"},
    {ErrorKind::internal, "internal"},
}};

}  // namespace

std::string_view error_kind_name(ErrorKind kind) {
  for (const auto& [known, name] : kinds)
    if (known == kind) return name;
  return "internal";
}

nlohmann::json error_to_json(const Error& error) {
  return {{"kind", error_kind_name(error.kind)}, {"message", error.message}};
}

Error error_from_json(const nlohmann::json& value) {
  Error error{ErrorKind::internal, "an error without a message"};
  if (!value.is_object()) return error;
  if (const auto kind = value.find("kind"); kind != value.end() && kind->is_string()) {
    for (const auto& [known, name] : kinds)
      if (kind->get_ref<const std::string&>() == name) error.kind = known;
  }
  if (const auto text = value.find("message"); text != value.end() && text->is_string())
    error.message = text->get<std::string>().substr(0, max_message);
  return error;
}

}  // namespace driftscope
