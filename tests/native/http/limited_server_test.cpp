// Connections without a token that want to occupy the server: floods, half requests, trickles, other users.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "native/http/limited_server.hpp"
#include "native/http/raw_http.hpp"
#include "native/http/send.hpp"
#include "native/os/peer_user.hpp"

namespace driftscope::test::limited_server_test {
namespace {

using namespace testing;
using std::chrono::seconds;
using Time = std::chrono::steady_clock;

class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool say(const std::string& text) const {
    return connected_ &&
           send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

 private:
  int fd_;
  bool connected_ = false;
};

std::vector<std::unique_ptr<Connection>> half_requests(const TestSite& site, int count) {
  std::vector<std::unique_ptr<Connection>> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(std::make_unique<Connection>(site.server->port()));
    CHECK(all.back()->say("GET / HTTP/1.1\r\nHost: x\r\n"));
  }
  return all;
}

TEST_CASE("LimitedServer_FloodOfHeaders_IsCutOff") {
  const TestSite site;
  const Connection flood(site.server->port());
  REQUIRE(flood.say("GET / HTTP/1.1\r\n"));
  const std::string header = "X-Flood: " + std::string(4000, 'x') + "\r\n";
  std::size_t sent = 0;
  constexpr std::size_t much = std::size_t{64} << 20;
  while (sent < much && flood.say(header)) sent += header.size();
  CHECK(sent < much);  // the sockets' buffers hold some of it
  CHECK(status_of(site.get("/")) == 200);
}

TEST_CASE("LimitedServer_HalfRequests_DoNotStopThePage") {
  const TestSite site;
  const auto halves = half_requests(site, 200);
  const auto begin = Time::now();
  CHECK(status_of(site.get("/")) == 200);
  CHECK(Time::now() - begin < seconds(15));  // it was 30 s a batch
}

TEST_CASE("LimitedServer_TricklingConnections_EndAndDoNotDelayTheStop") {
  auto site = std::make_unique<TestSite>();
  std::atomic<bool> stop = false;
  std::vector<std::thread> trickles;
  for (int i = 0; i < 80; ++i)
    trickles.emplace_back([&stop, port = site->server->port()] {
      const Connection slow(port);
      bool open = slow.say("POST / HTTP/1.1\r\n");
      while (!stop && open) {
        open = slow.say("X: y\r\n");
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    });
  CHECK(status_of(site->get("/")) == 200);
  const auto begin = Time::now();
  site->server.reset();
  CHECK(Time::now() - begin < seconds(10));
  stop = true;
  for (std::thread& trickle : trickles) trickle.join();
}

constexpr std::size_t large_bytes = std::size_t{48} << 20;  // more than all buffers of a connection

/// A server with limits of its own.
class SmallServer {
 public:
  explicit SmallServer(ConnectionLimits limits) : server_(limits) {
    server_.Post("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("done", "text/plain");
    });
    server_.Get("/large", [](const httplib::Request& request, httplib::Response& response) {
      static const std::string large(large_bytes, 'l');
      send_content(request, response, large, nullptr, "text/plain");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~SmallServer() {
    server_.stop_all();
    thread_.join();
  }
  SmallServer(const SmallServer&) = delete;
  SmallServer& operator=(const SmallServer&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  LimitedServer server_;
  int port_ = 0;
  std::thread thread_;
};

/// Whether the server closes the connection within `time`.
bool is_closed_within(const Connection& connection, std::chrono::milliseconds time) {
  pollfd wanted{connection.fd(), POLLIN, 0};
  char byte = 0;
  return ::poll(&wanted, 1, static_cast<int>(time.count())) > 0 && recv(connection.fd(), &byte, 1, 0) <= 0;
}

TEST_CASE("LimitedServer_ConnectionsBeyondItsBound_AreClosedAtOnce") {
  const SmallServer server(
      {.head_time = seconds(60), .head_time_busy = seconds(60), .threads = 2, .waiting = 3});
  std::vector<std::unique_ptr<Connection>> all;
  for (int i = 0; i < 20; ++i) all.push_back(std::make_unique<Connection>(server.port()));
  // Two are being read and three wait; until the threads take the first, fewer fit.
  const auto closed = std::ranges::count_if(
      all, [](const auto& one) { return is_closed_within(*one, std::chrono::milliseconds(300)); });
  CHECK(closed >= 15);
  CHECK(closed <= 17);
}

TEST_CASE("LimitedServer_SlowBody_IsCutOff") {
  const SmallServer server({.body_time = std::chrono::milliseconds(400), .body_rate = 1 << 20});
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 400\r\n\r\n";
  const std::string quick = send_raw(server.port(), head + std::string(400, 'b'));
  CHECK(body_of(quick) == "done");
  const Connection slow(server.port());
  REQUIRE(slow.say(head));
  const auto begin = Time::now();
  bool closed = false;
  while (!closed && Time::now() - begin < seconds(20) && slow.say("b"))
    closed = is_closed_within(slow, std::chrono::milliseconds(100));
  const auto taken = Time::now() - begin;
  CHECK(taken < seconds(15));
  CHECK(taken >= std::chrono::milliseconds(300));
}

TEST_CASE("LimitedServer_SlowReader_HasAllOfALargeAnswer") {
  const SmallServer server({});
  const Connection reader(server.port());
  REQUIRE(reader.say("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until the buffers are full
  std::vector<char> piece(std::size_t{256} << 10);
  std::size_t got = 0;
  while (true) {
    const ssize_t part = recv(reader.fd(), piece.data(), piece.size(), 0);
    if (part <= 0) break;
    got += static_cast<std::size_t>(part);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(got > large_bytes);  // with its head
}

TEST_CASE("PeerUser_OfOurOwnConnection_IsUs" * doctest::test_suite("posix")) {
  const TestSite site;
  const Connection mine(site.server->port());
  auto user = user_of_peer(mine.fd());  // the server is this process; without an owner until it has accepted
  for (int i = 0; i < 500 && !user; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    user = user_of_peer(mine.fd());
  }
  REQUIRE_MESSAGE(user, "the kernel has no sock_diag");
  CHECK(*user == geteuid());
}

TEST_CASE("LimitedServer_AnotherUserWithTheToken_GetsNoAnswer" * doctest::test_suite("posix")) {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can become another user");
    return;
  }
  const TestSite site;
  const std::string text = "GET " + site.token + "/ HTTP/1.1\r\nHost: " + site.host() + "\r\n\r\n";
  // Root runs this test, so that the server is root's; nobody is the neighbour.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (setgid(nobody) != 0 || setuid(nobody) != 0) _exit(3);
    _exit(send_raw(site.server->port(), text).empty() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(status_of(send_raw(site.server->port(), text)) == 200);
}

// The kernel then reports no owner, or root.
TEST_CASE("PeerUser_OfAConnectionThatIsGone_IsNobody" * doctest::test_suite("posix")) {
  REQUIRE(knows_users_of_peers());
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(bind(listening, at, size) == 0);
  REQUIRE(listen(listening, 4) == 0);
  REQUIRE(getsockname(listening, at, &size) == 0);
  for (const bool reset : {false, true}) {
    CAPTURE(reset);
    int accepted = -1;
    {
      const Connection gone(ntohs(address.sin_port));
      accepted = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
      CHECK(user_of_peer(accepted) == geteuid());
      const linger at_once{1, 0};
      if (reset) setsockopt(gone.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
    // A closed socket keeps its owner for some milliseconds.
    for (int i = 0; i < 500 && user_of_peer(accepted); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(user_of_peer(accepted));
    close(accepted);
  }
  close(listening);
}

}  // namespace
}  // namespace driftscope::test::limited_server_test
