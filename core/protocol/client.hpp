// The C++ client of the service: one call for every request of messages.json, with its structs, over any
// transport. Clients: local runs, the subjects of a bench.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

/// How messages reach a service: in this process, through a socket, or through a page.
class ServiceTransport {
 public:
  struct Response {
    std::string json;
    std::vector<std::byte> payload;
  };

  virtual ~ServiceTransport() = default;
  [[nodiscard]] virtual Result<Response> exchange(const std::string& json,
                                                  std::span<const std::byte> payload) = 0;
};

template <class Head>
struct ServiceReply {
  Head head;
  std::vector<std::byte> payload;
};

class ServiceClient {
 public:
  /// `transport` must outlive this.
  explicit ServiceClient(ServiceTransport& transport) : transport_(transport) {}

  /// Errors: those of the transport and of the service; a response that does not fit the schema.
  template <class Request>
  [[nodiscard]] Result<ServiceReply<typename Request::Response>> send(
      const Request& request, std::span<const std::byte> payload = {}) {
    std::vector<std::byte> bytes;
    DRIFTSCOPE_TRY(const nlohmann::json object, exchange(encode(request), payload, bytes));
    ServiceReply<typename Request::Response> reply;
    DRIFTSCOPE_CHECK(malformed(decode(object, reply.head)));
    reply.payload = std::move(bytes);
    return reply;
  }

 private:
  [[nodiscard]] Result<nlohmann::json> exchange(const nlohmann::json& request,
                                                std::span<const std::byte> payload,
                                                std::vector<std::byte>& response_payload);
  [[nodiscard]] static Status malformed(Status status);

  ServiceTransport& transport_;
};

}  // namespace driftscope
