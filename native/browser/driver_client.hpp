// The HTTP side of a request to a WebDriver: httplib's client, but it can be ended at any time (also while it
// connects or does the handshake of TLS), it limits all bytes of an answer, headers included, and never sends
// a request twice. Client: web_driver_call.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "native/browser/web_driver_address.hpp"

namespace driftscope {

struct DriverReply {
  enum class End {
    answered,
    too_long,
    too_slow,
    stopped,  ///< by end()
    failed,   ///< see why
  };
  End end = End::failed;
  int status = 0;
  std::string body = {};
  std::string why = {};
};

struct DriverLimits {
  std::chrono::milliseconds patience{10000};
  std::size_t bytes = 0;  ///< of the whole answer, and of its body once unpacked
};

class DriverClient {
 public:
  /// Errors: this build cannot speak the address's scheme.
  [[nodiscard]] static Result<std::unique_ptr<DriverClient>> make(const WebDriverAddress& address,
                                                                  const DriverLimits& limits);
  ~DriverClient();
  DriverClient(const DriverClient&) = delete;
  DriverClient& operator=(const DriverClient&) = delete;

  /// Once. Blocks; only the look-up of a name may take longer than the patience.
  [[nodiscard]] DriverReply send(const std::string& method, const std::string& path, const std::string& body);
  /// Closes the connection, from any thread; nothing is sent any more. To be called again while send() has
  /// not returned: a name may have several addresses.
  void end();

 private:
  struct State;
  explicit DriverClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
