// Servers that a page may be on: slow without end, closing early, claiming nonsense.
#include "native/http/page_fetch.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace driftscope::test::page_fetch_test {
namespace {

using namespace std::chrono_literals;

/// Answers each connection by a function, which gets the socket after the request has been read.
class RawServer {
 public:
  using Answer = std::function<void(int socket, const std::atomic<bool>& over, std::string_view request)>;
  explicit RawServer(Answer answer) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 8) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      while (!over_) {
        const int socket = ::accept(listener_, nullptr, nullptr);
        if (socket < 0) return;
        char request[4096];
        const ssize_t received = ::recv(socket, request, sizeof request, 0);
        if (received > 0) answer(socket, over_, {request, static_cast<std::size_t>(received)});
        ::close(socket);
      }
    });
  }
  ~RawServer() {
    over_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}/", port_); }

 private:
  int listener_;
  int port_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

bool send_text(int socket, std::string_view text) {
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::string failure(const RawServer& server, const FetchLimits& limits) {
  const auto page = fetch_page(server.url(), {}, limits);
  return page.ok() ? "" : page.error().message;
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_CASE("PageFetch_AnAnswerByteByByte_EndsAtTheLimit") {
  const auto began = std::chrono::steady_clock::now();
  FetchLimits limits;
  limits.request = 300ms;
  for (const std::string_view start : {"", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\n\r\n"}) {
    const RawServer server([start](int socket, const std::atomic<bool>& over, std::string_view /*request*/) {
      bool open = send_text(socket, start);
      while (open && !over) {
        open = send_text(socket, "a");
        std::this_thread::sleep_for(20ms);
      }
    });
    CHECK_MESSAGE(says(failure(server, limits), "no whole answer within 300 ms"), failure(server, limits));
  }
  CHECK(std::chrono::steady_clock::now() - began < 8s);
}

TEST_CASE("PageFetch_WhatIsNoHttp_IsAnError") {
  for (const std::string_view answer :
       {"", "\0\0\0", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab"}) {
    const RawServer server([answer](int socket, const std::atomic<bool>& /*over*/,
                                    std::string_view /*request*/) { send_text(socket, answer); });
    CHECK_MESSAGE(says(failure(server, {}), "the answer ended early, or is not HTTP"), answer);
  }
}

TEST_CASE("PageFetch_ThePath_IsAskedForAsItIsWritten") {
  std::string line;
  const RawServer server([&line](int socket, const std::atomic<bool>& /*over*/, std::string_view request) {
    line = request.substr(0, request.find('\r'));
    send_text(socket, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  CHECK(fetch_page(server.url() + "a%20b/%C3%A9?x=%2F+1", {}, {}).ok());
  CHECK(line == "GET /a%20b/%C3%A9?x=%2F+1 HTTP/1.1");
}

TEST_CASE("PageFetch_SizesThatCannotBe_AreUnknown") {
  const RawServer server([](int socket, const std::atomic<bool>& /*over*/, std::string_view /*request*/) {
    send_text(socket,
              "HTTP/1.1 404 Gone\r\nContent-Type: text/html\r\nX: 1\r\nx: 2\r\n"
              "Content-Length: 9000000000000000000\r\n\r\n");
  });
  const auto page = fetch_page(server.url());
  REQUIRE_MESSAGE(page.ok(), page.error().message);
  CHECK(page->page().status == 404);
  CHECK(!page->page().bytes);
  CHECK(page->page().header("x") == "1, 2");
}

}  // namespace
}  // namespace driftscope::test::page_fetch_test
