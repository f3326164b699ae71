#include "core/protocol/client.hpp"

#include "core/base/json.hpp"
#include "core/protocol/error_json.hpp"

namespace driftscope {

Result<nlohmann::json> ServiceClient::exchange(const nlohmann::json& request,
                                               std::span<const std::byte> payload,
                                               std::vector<std::byte>& response_payload) {
  DRIFTSCOPE_TRY(ServiceTransport::Response response, transport_.exchange(json_text(request), payload));
  nlohmann::json object = parse_json(response.json);
  if (!object.is_object()) return internal_error("the service gave a malformed response");
  if (const auto error = object.find("error"); error != object.end()) return error_from_json(*error);
  response_payload = std::move(response.payload);
  return object;
}

Status ServiceClient::malformed(Status status) {
  if (status.ok()) return status;
  return internal_error("the service gave a malformed response: " + status.error().message);
}

}  // namespace driftscope
