// A WebDriver that starts no browser: the page that it is asked to open is a function of the test.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "native/http/raw_http.hpp"

namespace driftscope::testing {

class FakeDriver {
 public:
  using Page = std::function<void(const std::string& url)>;

  explicit FakeDriver(std::string prefix = "") : prefix_(std::move(prefix)) {
    http.Post(prefix_ + "/session", [this](const httplib::Request& request, httplib::Response& response) {
      note(request);
      if (new_session) return new_session(response);
      give_session(response);
    });
    http.Post(prefix_ + "/session/([a-z0-9]+)/url",
              [this](const httplib::Request& request, httplib::Response& response) {
                note(request);
                const std::string quoted = request.body.substr(request.body.find("http"));
                if (page) {
                  const std::lock_guard lock(mutex_);
                  pages_.emplace_back([this, url = quoted.substr(0, quoted.find('"'))] { page(url); });
                }
                if (page_answer) return page_answer(response);
                response.set_content(R"({"value":null})", "application/json");
              });
    http.Get(prefix_ + "/status", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(status, "application/json");
    });
    http.Get(prefix_ + "/session/([a-z0-9]+)/url", [this](const httplib::Request& request,
                                                          httplib::Response& response) {
      if (is_open(request.matches[1]))
        return response.set_content(R"({"value":"http://127.0.0.1/"})", "application/json");
      response.status = 404;
      response.set_content(
          R"({"value":{"error":"invalid session id","message":"Unable to find session\nBuild info"}})",
          "application/json");
    });
    http.Delete(prefix_ + "/session/([a-z0-9]+)",
                [this](const httplib::Request& request, httplib::Response& response) {
                  note(request);
                  close(request.matches[1]);
                  response.set_content(R"({"value":null})", "application/json");
                });
    port = http.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { http.listen_after_bind(); });
    while (!http.is_running()) std::this_thread::yield();
  }
  ~FakeDriver() {
    http.stop();
    thread_.join();
    for (std::thread& one : pages_) one.join();
  }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port) + prefix_; }

  void give_session(httplib::Response& response) {
    const std::lock_guard lock(mutex_);
    const std::string id = "s" + std::to_string(++made_);
    open_.push_back(id);
    response.set_content(R"({"value":{"sessionId":")" + id +
                             R"(","capabilities":{"browserName":"chrome","browserVersion":")" + version +
                             R"(","platformName":"linux"}}})",
                         "application/json");
  }
  void close(const std::string& id) {
    const std::lock_guard lock(mutex_);
    std::erase(open_, id);
  }
  /// As when the node of a grid ends.
  void lose_all() {
    const std::lock_guard lock(mutex_);
    open_.clear();
  }
  void set_version(const std::string& given) {
    const std::lock_guard lock(mutex_);
    version = given;
  }
  [[nodiscard]] bool is_open(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(open_, id) != open_.end();
  }
  [[nodiscard]] std::size_t open_sessions() {
    const std::lock_guard lock(mutex_);
    return open_.size();
  }
  [[nodiscard]] int made() {
    const std::lock_guard lock(mutex_);
    return made_;
  }
  /// Requests so far, but for looks at sessions.
  [[nodiscard]] std::vector<httplib::Request> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  httplib::Server http;
  int port = 0;
  std::function<void(httplib::Response&)> new_session;  ///< instead of a session
  std::function<void(httplib::Response&)> page_answer;  ///< to the request for a page; empty: it is open
  std::string status = R"({"value":{"ready":true}})";
  Page page;

 private:
  void note(const httplib::Request& request) {
    const std::lock_guard lock(mutex_);
    httplib::Request kept;
    kept.method = request.method;
    kept.path = request.path;
    kept.headers = request.headers;
    kept.body = request.body;
    requests_.push_back(std::move(kept));
  }

  std::string prefix_;
  std::mutex mutex_;
  std::vector<std::string> open_;
  std::vector<httplib::Request> requests_;
  int made_ = 0;
  std::string version = "156.0.1";  // of the next browser; guarded by mutex_
  std::thread thread_;
  std::vector<std::thread> pages_;
};

/// Who listens where a driver should, and is given the connection: to send what no driver would.
class RawDriver {
 public:
  using Talk = std::function<void(int connection)>;

  /// Without `talk` nobody accepts: a connection is made, and no byte comes.
  explicit RawDriver(Talk talk = {}, int backlog = 16) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = own_address();
    socklen_t size = sizeof address;
    const bool listens = bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                         listen(fd_, backlog) == 0 &&
                         getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    port = listens ? ntohs(address.sin_port) : 0;
    if (talk) thread_ = std::thread([this, talk = std::move(talk)] { accept_all(talk); });
  }
  ~RawDriver() {
    ::shutdown(fd_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(fd_);
    for (const int one : waiting_) ::close(one);
  }
  RawDriver(const RawDriver&) = delete;
  RawDriver& operator=(const RawDriver&) = delete;

  /// From here on connections are not made either.
  void fill_queue() {
    constexpr int more_than_it_holds = 4;
    for (int i = 0; i < more_than_it_holds; ++i) {
      waiting_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      sockaddr_in address = own_address();
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      (void)connect(waiting_.back(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
  }

  int port = 0;

 private:
  static sockaddr_in own_address() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  void accept_all(const Talk& talk) const {
    for (int one = 0; (one = accept(fd_, nullptr, nullptr)) >= 0; ::close(one)) talk(one);
  }

  int fd_ = -1;
  std::vector<int> waiting_;
  std::thread thread_;
};

/// Sends `text` over and over until the other end closes: how many bytes it took.
inline std::size_t send_for_ever(int connection, const std::string& text) {
  std::size_t total = 0;
  for (ssize_t sent = 0; (sent = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL)) > 0;)
    total += static_cast<std::size_t>(sent);
  return total;
}

/// What a page does with its job, by requests alone.
class FakePage {
 public:
  explicit FakePage(const std::string& url) {
    const std::size_t host = url.find("://") + 3;
    const std::size_t path = url.find('/', host);
    authority_ = url.substr(host, path - host);
    port_ = std::atoi(authority_.substr(authority_.find(':') + 1).c_str());
    token_ = url.substr(path, url.find('?') - path);
    job_ = url.substr(url.find("job=") + 4);
  }

  std::string get(const std::string& below = "") { return ask("GET", below, ""); }
  std::string post(const std::string& below, const std::string& body) { return ask("POST", below, body); }
  /// After a result: whether there is a next job.
  bool next(std::string reply) {
    const std::string key = R"("next":")";
    while (reply.find(key) == std::string::npos) {
      if (reply.find(R"("stop":false)") == std::string::npos) return false;
      reply = get("/next");
    }
    const std::size_t begin = reply.find(key) + key.size();
    job_ = reply.substr(begin, reply.find('"', begin) - begin);
    return true;
  }

 private:
  std::string ask(const std::string& method, const std::string& below, const std::string& body) {
    std::string text =
        method + " " + token_ + "api/jobs/" + job_ + below + " HTTP/1.1\r\nHost: " + authority_ + "\r\n";
    if (method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return send_raw(port_, text + "\r\n" + body);
  }

  std::string authority_;
  int port_ = 0;
  std::string token_;
  std::string job_;
};

}  // namespace driftscope::testing
