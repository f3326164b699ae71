// How devices in the same network reach a hub without a proxy of the user's: over TLS, with a certificate
// made here. The server itself stays on the loopback interface. Clients: serve, the command devices. The
// native program alone has it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

struct HubFrontOptions {
  std::string listen;                 ///< ADDRESS[:PORT], of this machine; "all": every address
  std::filesystem::path certificate;  ///< its file, made where it is missing or not for the address
  /// Told the addresses and the certificate's fingerprint: lines for the owner.
  std::function<void(const std::string&)> say = {};
};

/// For the owner, who compares it.
[[nodiscard]] inline std::string fingerprint_text(const std::string& fingerprint) {
  return "SHA-256 fingerprint of its certificate, to be compared with what the browser shows:\n  " +
         fingerprint;
}

class HubFront {
 public:
  /// Takes the port; nothing is answered before start. Errors: the address is wrong or not this machine's,
  /// the port is in use, the certificate cannot be made or written; missing, where the program has no TLS.
  [[nodiscard]] static Result<std::unique_ptr<HubFront>> open(const HubFrontOptions& options);
  /// Ends all connections.
  virtual ~HubFront() = default;
  HubFront(const HubFront&) = delete;
  HubFront& operator=(const HubFront&) = delete;

  /// "https://192.168.1.5:8458", the one for links first.
  [[nodiscard]] virtual const std::vector<std::string>& origins() const = 0;
  /// SHA-256 of its certificate, "AA:BB:…", as browsers show it.
  [[nodiscard]] virtual const std::string& fingerprint() const = 0;
  /// From now on connections are passed on to the server at this port of 127.0.0.1.
  [[nodiscard]] virtual Status start(int server_port) = 0;

 protected:
  HubFront() = default;
};

}  // namespace driftscope
