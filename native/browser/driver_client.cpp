#include "native/browser/driver_client.hpp"

#include <fcntl.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "native/os/resource_limits.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_connect{10000};
// httplib matches the first line with a regular expression that recurses for each byte.
constexpr std::size_t longest_first_line = 1024;
constexpr std::size_t longest_line = 8192;
// Selenium Grid refuses another spelling.
constexpr const char* json_type = "application/json; charset=utf-8";

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
using Tls = SSL;
#else
using Tls = void;
#endif

}  // namespace

namespace driver_http {

/// The connection under way. httplib's own stop() waits for what it is to end: it takes a lock that is held
/// while names are looked up, connections made and certificates exchanged.
class Connection {
 public:
  Connection() = default;
  ~Connection() { forget(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// A socket that is to be connected. A copy is kept, as httplib may close its own at any time.
  void take(int socket) {
    const std::lock_guard lock(mutex_);
    close_copy();
    copy_ = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    can_copy_ = copy_ >= 0;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    close_copy();
  }
  /// False: this system makes no copies of sockets (Node), so that httplib has to.
  bool end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (copy_ >= 0) ::shutdown(copy_, SHUT_RDWR);
    return can_copy_;
  }
  [[nodiscard]] bool ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  void close_copy() {
    if (copy_ >= 0) ::close(copy_);
    copy_ = -1;
  }

  std::mutex mutex_;
  int copy_ = -1;  // guarded by mutex_, as the next two
  bool can_copy_ = true;
  bool ended_ = false;
};

/// What one request may take, and what it has taken.
struct Allowance {
  std::size_t bytes = 0;  ///< left
  bool too_long = false;
  int connections = 0;
};

}  // namespace driver_http

namespace {

using driver_http::Allowance;
using driver_http::Connection;

/// A socket as httplib reads and writes it, with limits on what comes.
class LimitedStream final : public httplib::Stream {
 public:
  LimitedStream(int socket, Tls* tls, milliseconds patience, Allowance& allowance)
      : socket_(socket), tls_(tls), patience_(patience), allowance_(allowance) {}

  bool is_readable() const override { return at_ < filled_ || is_ready(POLLIN); }
  bool is_writable() const override { return is_ready(POLLOUT); }

  ssize_t read(char* to, std::size_t size) override {
    if (at_ == filled_) {
      const ssize_t got = receive();
      if (got <= 0) return got;
      at_ = 0;
      filled_ = static_cast<std::size_t>(got);
    }
    const std::size_t count = std::min(size, filled_ - at_);
    std::copy_n(buffer_.data() + at_, count, to);
    at_ += count;
    // httplib reads lines, and only these, byte by byte.
    line_ = size == 1 && *to != '\n' ? line_ + 1 : 0;
    if (size == 1 && *to == '\n') first_line_ = false;
    if (line_ <= (first_line_ ? longest_first_line : longest_line)) return static_cast<ssize_t>(count);
    allowance_.too_long = true;
    return -1;
  }

  ssize_t write(const char* from, std::size_t size) override {
    ssize_t sent = 0;
    do {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
      if (tls_ != nullptr) return SSL_write(tls_, from, static_cast<int>(std::min(size, largest_write)));
#endif
      sent = ::send(socket_, from, size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
  }

  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_; }

 private:
  static constexpr std::size_t largest_write = std::size_t{1} << 20;

  [[nodiscard]] bool is_ready(short events) const {
    pollfd wanted{socket_, events, 0};
    return ::poll(&wanted, 1, static_cast<int>(patience_.count())) > 0;
  }

  // Blocks: the socket has a time limit of its own.
  ssize_t receive() {
    ssize_t got = 0;
    do {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
      if (tls_ != nullptr) {
        got = SSL_read(tls_, buffer_.data(), static_cast<int>(buffer_.size()));
        if (got <= 0) return SSL_get_error(tls_, static_cast<int>(got)) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
        break;
      }
#endif
      got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return got;
    const auto count = static_cast<std::size_t>(got);
    allowance_.too_long = allowance_.too_long || count > allowance_.bytes;
    if (allowance_.too_long) return -1;
    allowance_.bytes -= count;
    return got;
  }

  const int socket_;
  [[maybe_unused]] Tls* const tls_;  // null without TLS, which Node has not
  const milliseconds patience_;
  Allowance& allowance_;
  std::array<char, 4096> buffer_{};
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::size_t line_ = 0;
  bool first_line_ = true;
};

template <class Base>
class LimitedClient final : public Base {
 public:
  LimitedClient(const Url& url, milliseconds patience, Connection& connection, Allowance& allowance)
      : Base(url.host, url.port), patience_(patience), connection_(connection), allowance_(allowance) {}

 private:
  // Between the connection, TLS included, and its end.
  bool process_socket(const typename Base::Socket& socket,
                      std::function<bool(httplib::Stream&)> callback) override {
    // httplib begins once more where a peer closes before it answers: what was asked for may be done then.
    if (++allowance_.connections > 1 || connection_.ended()) return false;
    Tls* tls = nullptr;
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
    tls = socket.ssl;
#endif
    LimitedStream stream(socket.sock, tls, patience_, allowance_);
    return callback(stream);
  }

  const milliseconds patience_;
  Connection& connection_;
  Allowance& allowance_;
};

template <class Base>
std::unique_ptr<httplib::ClientImpl> make_client(const Url& url, milliseconds patience,
                                                 Connection& connection, Allowance& allowance) {
  // From 0.18 on SSLClient is final: its headers have no limit but time there.
  if constexpr (std::is_final_v<Base>)
    return std::make_unique<Base>(url.host, url.port);
  else
    return std::make_unique<LimitedClient<Base>>(url, patience, connection, allowance);
}

std::string failure_text(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection: return "nothing listens there, or the name is unknown";
    case httplib::Error::Read: return "the answer ended early, or is not HTTP";
    case httplib::Error::SSLConnection: return "TLS failed: it speaks no https there";
    case httplib::Error::SSLServerVerification:
    case httplib::Error::SSLLoadingCerts: return "its certificate is not valid for this name";
    default: return "HTTP failed (" + httplib::to_string(error) + ")";
  }
}

}  // namespace

struct DriverClient::State {
  DriverLimits limits;
  driver_http::Connection connection;
  driver_http::Allowance allowance;
  std::unique_ptr<httplib::ClientImpl> http;  // last: it uses the others
};

DriverClient::DriverClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
DriverClient::~DriverClient() = default;

Result<std::unique_ptr<DriverClient>> DriverClient::make(const WebDriverAddress& address,
                                                         const DriverLimits& limits) {
  auto state = std::make_unique<State>();
  state->limits = limits;
  state->allowance.bytes = limits.bytes;
  Connection& connection = state->connection;
  if (address.url.scheme == "http") {
    state->http =
        make_client<httplib::ClientImpl>(address.url, limits.patience, connection, state->allowance);
  } else {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
    state->http = make_client<httplib::SSLClient>(address.url, limits.patience, connection, state->allowance);
#else
    return missing_error("this build's HTTP library has no TLS: only http:// addresses can be asked");
#endif
  }
  httplib::ClientImpl& http = *state->http;
  http.set_connection_timeout(std::min(limits.patience, longest_connect));
  http.set_read_timeout(limits.patience);
  http.set_write_timeout(limits.patience);
  http.set_follow_location(false);  // the key goes to the address that the user gave alone
  http.set_socket_options([&connection](int socket) { connection.take(socket); });
  if (!address.user.empty()) http.set_basic_auth(address.user, address.key);
  return std::unique_ptr<DriverClient>(new DriverClient(std::move(state)));
}

DriverReply DriverClient::send(const std::string& method, const std::string& path, const std::string& body) {
  httplib::Request request;
  request.method = method;
  request.path = path;
  request.headers = {{"Accept", "application/json"}};
  if (method == "POST") {
    request.headers.emplace("Content-Type", json_type);
    request.body = body;
  }
  DriverReply reply;
  Allowance& allowance = state_->allowance;
  const std::size_t most = state_->limits.bytes;
  request.content_receiver = [&](const char* data, std::size_t size, auto, auto) {
    allowance.too_long = allowance.too_long || reply.body.size() + size > most;
    if (!allowance.too_long) reply.body.append(data, size);
    return !allowance.too_long;
  };
  std::atomic<bool> timed_out = false;
  std::atomic<bool> over = false;
  const auto ask = [&] {
    // Also an answer that comes byte by byte ends.
    const TimeLimit limit(state_->limits.patience, [&] {
      constexpr milliseconds interval{20};
      timed_out = true;
      for (; !over; std::this_thread::sleep_for(interval)) end();
    });
    try {
      const auto answer = state_->http->send(request);
      if (answer) reply.status = answer->status;
      reply.why = failure_text(answer.error());
      if (answer) reply.end = DriverReply::End::answered;
      if (answer.error() == httplib::Error::ConnectionTimeout) timed_out = true;
    } catch (const std::exception& error) {
      reply.end = DriverReply::End::failed;
      reply.why = std::string("HTTP failed (") + error.what() + ")";
    }
    over = true;
  };
  ask();
  const bool ended = state_->connection.ended();
  state_->connection.forget();
  if (allowance.too_long)
    reply.end = DriverReply::End::too_long;
  else if (timed_out)
    reply.end = DriverReply::End::too_slow;
  else if (reply.end != DriverReply::End::answered && ended)
    reply.end = DriverReply::End::stopped;
  if (allowance.connections > 1) reply.why = "the connection was closed before an answer came";
  return reply;
}

void DriverClient::end() {
  if (!state_->connection.end()) state_->http->stop();
}

}  // namespace driftscope
