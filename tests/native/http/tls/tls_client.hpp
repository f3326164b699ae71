// A TLS client written with OpenSSL alone, so that a test can stop in the middle of anything.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <string>

#include "native/http/tls/openssl.hpp"
#include "native/os/file_descriptor.hpp"

namespace driftscope::testing {

/// Connected to 127.0.0.1; reads and writes give up after 20 s.
inline FileDescriptor connect_to(int port) {
  FileDescriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{20, 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return FileDescriptor();
  return connection;
}

/// Whether the other end closes within so long, without having sent anything.
inline bool is_closed_unread(const FileDescriptor& connection, std::chrono::milliseconds time) {
  pollfd wanted{connection.get(), POLLIN, 0};
  char byte = 0;
  return ::poll(&wanted, 1, static_cast<int>(time.count())) > 0 && ::recv(connection.get(), &byte, 1, 0) <= 0;
}

class TlsClient {
 public:
  /// Shakes hands; `version`: the only one that it speaks, 0: all.
  explicit TlsClient(int port, int version = 0, const std::string& protocols = "")
      : socket_(connect_to(port)) {
    SSL_CTX_set_security_level(context_.get(), 0);  // versions that nobody should speak are refused there
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    session_.reset(SSL_new(context_.get()));
    if (!protocols.empty())
      SSL_set_alpn_protos(session_.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                          static_cast<unsigned int>(protocols.size()));
    SSL_set_fd(session_.get(), socket_.get());
    connected_ = socket_.get() >= 0 && SSL_connect(session_.get()) == 1;
    ERR_clear_error();
  }
  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] SSL* session() const { return session_.get(); }
  [[nodiscard]] const FileDescriptor& socket() const { return socket_; }

  bool send(const std::string& text) {
    std::size_t sent = 0;
    return SSL_write_ex(session_.get(), text.data(), text.size(), &sent) == 1 && sent == text.size();
  }
  /// At most so many bytes; empty at the end.
  std::string receive(std::size_t most = 65536) {
    std::string text(most, '\0');
    std::size_t got = 0;
    if (SSL_read_ex(session_.get(), text.data(), most, &got) != 1) got = 0;
    text.resize(got);
    return text;
  }
  std::string receive_all() {
    std::string all;
    for (std::string part; !(part = receive()).empty();) all += part;
    return all;
  }
  /// Whether the end was said, and not only the connection closed.
  [[nodiscard]] bool was_ended() const {
    return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  void end() { SSL_shutdown(session_.get()); }

 private:
  tls::Context context_{SSL_CTX_new(TLS_client_method())};
  FileDescriptor socket_;
  tls::Session session_;
  bool connected_ = false;
};

}  // namespace driftscope::testing
