// The TLS front of a server: what goes through, and what does not hold it up.
#include "native/http/tls/front.hpp"

#include <doctest/doctest.h>
#include <httplib.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/sha256.hpp"
#include "native/http/limited_server.hpp"
#include "native/http/raw_http.hpp"
#include "native/http/tls/certificate.hpp"
#include "native/http/tls/tls_client.hpp"

namespace driftscope::test::tls_front_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::string large_text() {
  std::string text(std::size_t{8} << 20, '\0');
  std::uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

bool holds(const std::function<bool()>& condition) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  while (Clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

std::unique_ptr<TlsFront> front_of(int port, QuotaLimits quota = {}, PassageLimits limits = {}) {
  static const auto certificate = make_certificate({.addresses = {"127.0.0.1"}}, std::time(nullptr));
  REQUIRE_MESSAGE(certificate.ok(), certificate.error().message);
  auto front = TlsFront::open(
      {.address = "127.0.0.1", .port = 0, .pem = certificate->pem, .quota = quota, .limits = limits});
  REQUIRE_MESSAGE(front.ok(), front.error().message);
  REQUIRE((*front)->start(port).ok());
  return *std::move(front);
}

/// A small server behind a front: /echo sends a body back, /large what large_text says, /from who has asked.
struct Behind {
  explicit Behind(QuotaLimits quota = {}, PassageLimits limits = {}) {
    server.Post("/echo", [this](const httplib::Request& request, httplib::Response& response) {
      ++requests;
      response.set_content(request.body, "application/octet-stream");
    });
    server.Get("/large", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(text, "application/octet-stream");
    });
    server.Get("/from", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(request.remote_addr, "text/plain");
    });
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::sleep_for(milliseconds(1));
    front = front_of(port, quota, limits);
  }
  ~Behind() {
    front.reset();
    stop();
  }
  void stop() {
    server.stop_all();
    if (thread.joinable()) thread.join();
  }
  [[nodiscard]] bool answers() const {
    TlsClient client(front->port());
    return client.connected() && client.send("GET /from HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") &&
           body_of(client.receive_all()) == "127.0.0.2";
  }

  const std::string text = large_text();
  std::atomic<int> requests = 0;
  LimitedServer server;  // httplib alone gives up where the other end has half closed
  int port = 0;
  std::thread thread;
  std::unique_ptr<TlsFront> front;
};

const std::string ask_large = "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

TEST_CASE("TlsFront_Request_IsAnsweredFromItsOwnAddress") {
  const Behind it;
  CHECK(it.answers());
  TlsClient old(it.front->port(), TLS1_2_VERSION);
  REQUIRE(old.connected());
  REQUIRE(old.send("GET /from HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  CHECK(body_of(old.receive_all()) == "127.0.0.2");
  CHECK(old.was_ended());
  CHECK(!TlsClient(it.front->port(), TLS1_1_VERSION).connected());
}

TEST_CASE("TlsFront_Protocol_IsHttp11") {
  const Behind it;
  const TlsClient both(it.front->port(), 0, std::string("\x02h2\x08http/1.1"));
  REQUIRE(both.connected());
  const unsigned char* chosen = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(both.session(), &chosen, &size);
  CHECK(std::string(reinterpret_cast<const char*>(chosen), size) == "http/1.1");
  CHECK(!TlsClient(it.front->port(), 0, std::string("\x02h2")).connected());
}

TEST_CASE("TlsFront_LargeBodies_ArriveWhole") {
  const Behind it;
  const std::string digest = sha256_hex(std::as_bytes(std::span(it.text)));
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int i = 0; i < 6; ++i)
    clients.emplace_back([&, i] {
      TlsClient client(it.front->port(), i % 2 == 0 ? 0 : TLS1_2_VERSION);
      const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                               std::to_string(it.text.size()) + "\r\n\r\n";
      if (!client.connected() || !client.send(head) || !client.send(it.text)) return;
      const std::string body = body_of(client.receive_all());
      right += sha256_hex(std::as_bytes(std::span(body))) == digest && client.was_ended();
    });
  for (std::thread& client : clients) client.join();
  CHECK(right == 6);
  CHECK(holds([&] { return it.front->connections() == 0; }));
}

TEST_CASE("TlsFront_SlowReader_HoldsNobodyUpAndGetsAll") {
  const Behind it;
  TlsClient slow(it.front->port());
  REQUIRE(slow.connected());
  REQUIRE(slow.send(ask_large));
  std::string got = slow.receive(1000);
  CHECK(it.answers());
  for (int i = 0; i < 50; ++i) {
    got += slow.receive(2000);
    std::this_thread::sleep_for(milliseconds(2));
  }
  CHECK(it.answers());
  got += slow.receive_all();
  CHECK(body_of(got) == it.text);
}

TEST_CASE("TlsFront_ReaderBelowTheRate_IsClosed") {
  const Behind it({}, {.whole = milliseconds(300), .rate = std::size_t{1} << 30});
  TlsClient stuck(it.front->port());
  REQUIRE(stuck.connected());
  REQUIRE(stuck.send(ask_large));
  CHECK(holds([&] { return it.front->connections() == 0; }));
  CHECK(stuck.receive_all().size() < it.text.size());
  CHECK(!stuck.was_ended());
}

TEST_CASE("TlsFront_HalfClosedByTheClient_IsStillAnswered") {
  const Behind it;
  TlsClient client(it.front->port());
  REQUIRE(client.connected());
  REQUIRE(client.send(ask_large));
  client.end();
  CHECK(body_of(client.receive_all()) == it.text);
}

TEST_CASE("TlsFront_ClientThatSaysNothing_IsClosedInTime") {
  const Behind it({}, {.first_bytes = milliseconds(200)});
  const FileDescriptor silent = connect_to(it.front->port());
  const TlsClient only_hands(it.front->port());
  REQUIRE(only_hands.connected());
  CHECK(it.answers());
  CHECK(is_closed_unread(silent, std::chrono::seconds(20)));
  CHECK(holds([&] { return it.front->connections() == 0; }));
}

TEST_CASE("TlsFront_IdleConnection_IsClosed") {
  const Behind it({}, {.idle = milliseconds(200)});
  TlsClient half(it.front->port());
  REQUIRE(half.connected());
  REQUIRE(half.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12"));
  CHECK(holds([&] { return it.front->connections() == 0; }));
  CHECK(half.receive_all().empty());
  CHECK(it.requests == 0);
}

TEST_CASE("TlsFront_PlainHttp_IsNotAnswered") {
  const Behind it;
  const std::string reply = send_raw(it.front->port(), "GET /from HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(reply.find("HTTP") == std::string::npos);
  CHECK(holds([&] { return it.front->connections() == 0; }));
  CHECK(it.answers());
}

TEST_CASE("TlsFront_MoreConnectionsThanAllowed_AreClosedUnread") {
  const Behind it({.each = 3});
  std::vector<FileDescriptor> held;
  for (int i = 0; i < 3; ++i) held.push_back(connect_to(it.front->port()));
  REQUIRE(holds([&] { return it.front->connections() == 3; }));
  for (int i = 0; i < 5; ++i) CHECK(is_closed_unread(connect_to(it.front->port()), std::chrono::seconds(20)));
  CHECK(it.front->connections() == 3);
  held.clear();
  CHECK(holds([&] { return it.front->connections() == 0; }));
  CHECK(it.answers());
}

// A browser closes such a connection when it comes to it.
TEST_CASE("TlsFront_AnsweredConnectionsThatStayOpen_AreNotCounted") {
  const Behind it({.each = 3}, {.farewell = std::chrono::seconds(60)});
  std::vector<std::unique_ptr<TlsClient>> open;
  for (int i = 0; i < 9; ++i) {
    open.push_back(std::make_unique<TlsClient>(it.front->port()));
    REQUIRE(open.back()->connected());
    REQUIRE(open.back()->send("GET /from HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    CHECK(body_of(open.back()->receive_all()) == "127.0.0.2");
  }
  CHECK(it.front->connections() == 9);
}

TEST_CASE("TlsFront_ConnectionsTooFast_AreClosedUnread") {
  const Behind it({.burst = 5, .per_second = 0.001});
  for (int i = 0; i < 5; ++i) CHECK(it.answers());
  CHECK(is_closed_unread(connect_to(it.front->port()), std::chrono::seconds(20)));
}

TEST_CASE("TlsFront_ServerGone_ClosesTheConnection") {
  Behind it;
  it.stop();
  TlsClient client(it.front->port());
  REQUIRE(client.connected());
  (void)client.send("GET /from HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(client.receive_all().empty());
  CHECK(holds([&] { return it.front->connections() == 0; }));
}

TEST_CASE("TlsFront_StopInTheMiddle_IsPrompt") {
  Behind it;
  TlsClient reading(it.front->port());
  REQUIRE(reading.connected());
  REQUIRE(reading.send(ask_large));
  const FileDescriptor silent = connect_to(it.front->port());
  REQUIRE(holds([&] { return it.front->connections() == 2; }));
  const int port = it.front->port();
  const auto begin = Clock::now();
  it.front.reset();
  CHECK(Clock::now() - begin < std::chrono::seconds(2));
  CHECK(connect_to(port).get() < 0);
  CHECK(is_closed_unread(silent, std::chrono::seconds(20)));
  CHECK(reading.receive_all().size() < it.text.size());
}

TEST_CASE("TlsFront_PortInUse_SaysSo") {
  const Behind it;
  const auto certificate = make_certificate({.addresses = {"127.0.0.1"}}, std::time(nullptr));
  REQUIRE(certificate.ok());
  const auto second =
      TlsFront::open({.address = "127.0.0.1", .port = it.front->port(), .pem = certificate->pem});
  REQUIRE(!second.ok());
  CHECK(second.error().message.find("--listen ADDRESS:PORT takes another port") != std::string::npos);
  CHECK(!TlsFront::open({.address = "127.0.0.1", .port = 0, .pem = "nonsense"}).ok());
}

// The Host header is whatever a stranger likes; where a connection comes from is not.
TEST_CASE("HubServer_ThroughTheFront_HasDevicesAlone") {
  auto hub = Hub::open({});
  REQUIRE(hub.ok());
  ServerOptions options;
  options.hub = hub->get();
  options.one_visit = true;
  options.front_origins = {"https://192.168.1.5:8458", "https://10.0.0.7:8458"};
  const TestSite site(std::move(options));
  const auto front = front_of(site.server->port());
  const auto ask = [&](const std::string& path, const std::string& host, const std::string& headers = "") {
    TlsClient client(front->port());
    REQUIRE(client.connected());
    REQUIRE(client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "\r\n"));
    return client.receive_all();
  };
  const std::string here = "192.168.1.5:8458";
  const auto link = (*hub)->invite();
  REQUIRE(link.ok());
  CHECK(site.server->hub_url(*link) == "https://" + here + "/" + *link + "/");
  CHECK(status_of(ask("/" + *link + "/", "evil.example")) == 403);
  CHECK(status_of(ask("/" + *link + "/", here, "Origin: https://evil.example\r\n")) == 403);
  CHECK(status_of(ask("/" + *link + "/", here, "Origin: https://10.0.0.7:8458\r\n")) == 403);
  const std::string ours = "Origin: https://" + here + "\r\n";
  const std::string opened = ask("/" + *link + "/", here, ours);
  CHECK(status_of(opened) == 200);
  CHECK(opened.find("Set-Cookie") == std::string::npos);
  CHECK(status_of(ask("/" + *link + "/", "10.0.0.7:8458")) == 200);
  const std::string name = R"({"name":"phone"})";
  const auto join = [&](const std::string& origin) {
    TlsClient client(front->port());
    REQUIRE(client.connected());
    REQUIRE(client.send("POST /" + *link + "/api/hub/join HTTP/1.1\r\nHost: " + here + "\r\n" + origin +
                        "Content-Length: " + std::to_string(name.size()) + "\r\n\r\n" + name));
    return client.receive_all();
  };
  CHECK(status_of(join("Origin: https://evil.example\r\n")) == 403);
  const std::string joined = join(ours);
  CHECK(status_of(joined) == 200);
  CHECK(joined.find("Set-Cookie: driftscope-device=") != std::string::npos);

  // With the right token, and with the address that the owner's programs use.
  const std::string visit = site.server->visit_url();
  for (const std::string& path :
       {site.token + "/", site.token + "/api/hub/devices", visit.substr(visit.find('/', 8))}) {
    CHECK_MESSAGE(status_of(ask(path, here)) == 404, path);
    CHECK_MESSAGE(status_of(ask(path, site.host())) == 403, path);
  }
  CHECK(status_of(site.get("/api/hub/devices")) == 200);
}

}  // namespace
}  // namespace driftscope::test::tls_front_test
