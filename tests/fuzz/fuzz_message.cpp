// Any bytes as a message: the service responds, and the response conforms to the schema.
#include <cstdint>
#include <cstdlib>

#include "core/base/json.hpp"
#include "core/protocol/schema.hpp"
#include "core/protocol/service.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nlohmann::json value = parse_json(text);
  for (const MessageSpec& message : message_specs()) (void)check_object(*message.request, value);
  Service service;
  const auto answered = service.request(pack_message(text, {}));
  const nlohmann::json response = parse_json(unpack_message(answered).json);
  if (!response.is_object()) std::abort();
  const bool verb = value.is_object() && value.contains("do") && value["do"].is_string();
  const std::string request = verb ? value["do"].get<std::string>() : "cancel";
  if (response.contains("error")) return check_response("cancel", response).ok() ? 0 : (std::abort(), 0);
  if (!check_response(request, response).ok()) std::abort();
  return 0;
}
