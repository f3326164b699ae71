// A TLS front of a server on the loopback interface: takes connections of other machines, and passes the
// bytes of each on to a connection of its own, whose user is then this one. One thread; connections beyond
// the limits are closed unread. Clients: hub_front, tests. It knows no HTTP: guard.hpp has what is answered.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "native/http/tls/address_quota.hpp"
#include "native/http/tls/passage.hpp"

namespace driftscope {

struct TlsFrontOptions {
  std::string address;  ///< IPv4, of this machine; "0.0.0.0": all of them
  int port = 0;         ///< 0: any free one
  std::string pem;      ///< the key and the certificate
  QuotaLimits quota = {};
  PassageLimits limits = {};
};

class TlsFront {
 public:
  /// Takes the port; connections wait until start. Errors: it is in use, the key is none.
  [[nodiscard]] static Result<std::unique_ptr<TlsFront>> open(TlsFrontOptions options);
  /// Ends the connections, at once.
  ~TlsFront();
  TlsFront(const TlsFront&) = delete;
  TlsFront& operator=(const TlsFront&) = delete;

  [[nodiscard]] int port() const;
  /// From now on connections are passed on to 127.0.0.1:`to_port`. Once. Error: the system gives no thread.
  [[nodiscard]] Status start(int to_port);
  /// Connections at the moment.
  [[nodiscard]] std::size_t connections() const;

 private:
  struct State;
  explicit TlsFront(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
