#include "native/http/tls/front.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace driftscope {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int backlog_of_front = 128;
constexpr std::size_t most_passages = 256;  // also those whose answer was sent
constexpr int accepted_at_once = 64;
constexpr milliseconds look_at_limits{200};
constexpr milliseconds without_descriptors{100};  // until it is tried again

constexpr unsigned char http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int choose_protocol(SSL* /*session*/, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void* /*unused*/) {
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, http11, sizeof(http11), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

Result<tls::Context> make_context(const std::string& pem) {
  ERR_clear_error();
  tls::Context context(SSL_CTX_new(TLS_server_method()));
  const tls::KeyAndCertificate read = tls::read_pem(pem);
  if (!context || !read.key || !read.certificate ||
      SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20") != 1 ||
      SSL_CTX_use_certificate(context.get(), read.certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), read.key.get()) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return tls::failure("cannot speak TLS with this key and certificate");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  // Else a call reads on for as long as records come that hold no data.
  SSL_CTX_clear_mode(context.get(), SSL_MODE_AUTO_RETRY);
  // Sessions are resumed by tickets, which the other end keeps.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 1);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  return context;
}

Result<FileDescriptor> listen_at(const TlsFrontOptions& options, int& port) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  if (inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1)
    return bad_input("--listen: " + options.address + " is no IPv4 address");
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  socklen_t size = sizeof(address);
  if (socket.get() < 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.get(), backlog_of_front) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return io_error(fmt::format("cannot listen on {}:{}: {}; --listen ADDRESS:PORT takes another port",
                                options.address, options.port, system_message()));
  port = ntohs(address.sin_port);
  return socket;
}

// OpenSSL writes to sockets that the other end has closed.
void block_broken_pipes() {
  sigset_t pipes;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipes, nullptr);
}

}  // namespace

struct TlsFront::State {
  explicit State(TlsFrontOptions given) : options(std::move(given)), quota(options.quota) {}

  void serve(int to_port);
  int wait(std::vector<pollfd>& polled) const;
  void take_new(int to_port);
  void move_all(const std::vector<pollfd>& polled);

  const TlsFrontOptions options;
  int port = 0;
  tls::Context context;
  FileDescriptor listening;
  FileDescriptor stopping;  // an eventfd
  std::thread thread;
  std::atomic<std::size_t> connections = 0;

  // Of the thread.
  AddressQuota quota;
  std::vector<std::unique_ptr<Passage>> passages;
  bool more = false;  // something can move without waiting
  Clock::time_point accepting_again;
};

// First what stops and what listens, then two of each connection.
int TlsFront::State::wait(std::vector<pollfd>& polled) const {
  const bool accepts = Clock::now() >= accepting_again;
  polled.assign({{stopping.get(), POLLIN, 0}, {accepts ? listening.get() : -1, POLLIN, 0}});
  for (const auto& passage : passages)
    for (const Passage::Wanted wanted : {passage->outside(), passage->inside()})
      polled.push_back({wanted.fd, wanted.events, 0});
  const bool looks = !passages.empty() || !accepts;
  const int time = more ? 0 : looks ? static_cast<int>(look_at_limits.count()) : -1;
  return ::poll(polled.data(), polled.size(), time);
}

void TlsFront::State::take_new(int to_port) {
  for (int taken = 0; taken < accepted_at_once; ++taken) {
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    FileDescriptor socket(
        ::accept4(listening.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const auto now = Clock::now();
    if (socket.get() < 0) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        accepting_again = now + without_descriptors;
      return;
    }
    const std::uint32_t address = ntohl(from.sin_addr.s_addr);
    if (passages.size() >= most_passages || !quota.enter(address, now)) continue;
    const int yes = 1;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    tls::Session session(SSL_new(context.get()));
    if (!session) {
      quota.leave(address);
      continue;
    }
    passages.push_back(std::make_unique<Passage>(std::move(socket), std::move(session), address, to_port,
                                                 options.limits, now));
  }
}

void TlsFront::State::move_all(const std::vector<pollfd>& polled) {
  const auto now = Clock::now();
  more = false;
  for (std::size_t i = 0; i < passages.size(); ++i) {
    Passage& passage = *passages[i];
    passage.seen_outside(polled[2 + 2 * i].revents);
    more = passage.step(now) || more;
  }
  std::erase_if(passages, [&](const auto& passage) {
    const bool over = passage->over(now);
    if (passage->leaves(over)) quota.leave(passage->address());
    return over;
  });
}

void TlsFront::State::serve(int to_port) {
  block_broken_pipes();
  std::vector<pollfd> polled;
  while (true) {
    if (wait(polled) < 0) continue;
    if (polled[0].revents != 0) break;
    move_all(polled);
    if (polled[1].revents != 0) take_new(to_port);
    connections = passages.size();
  }
  passages.clear();
  connections = 0;
}

Result<std::unique_ptr<TlsFront>> TlsFront::open(TlsFrontOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  DRIFTSCOPE_TRY(state->context, make_context(state->options.pem));
  DRIFTSCOPE_TRY(state->listening, listen_at(state->options, state->port));
  state->stopping = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (state->stopping.get() < 0) return io_error("cannot listen: " + system_message());
  return std::unique_ptr<TlsFront>(new TlsFront(std::move(state)));
}

TlsFront::TlsFront(std::unique_ptr<State> state) : state_(std::move(state)) {}

TlsFront::~TlsFront() {
  const std::uint64_t one = 1;
  // It cannot fail: the counter is 0.
  [[maybe_unused]] const ssize_t told = ::write(state_->stopping.get(), &one, sizeof(one));
  if (state_->thread.joinable()) state_->thread.join();
}

int TlsFront::port() const { return state_->port; }
std::size_t TlsFront::connections() const { return state_->connections; }

Status TlsFront::start(int to_port) {
  try {
    state_->thread = std::thread([state = state_.get(), to_port] { state->serve(to_port); });
  } catch (const std::system_error& error) {
    return io_error(std::string("cannot answer other machines: ") + error.what());
  }
  return {};
}

}  // namespace driftscope
