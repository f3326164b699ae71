#include "native/browser/web_driver.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "core/base/json.hpp"
#include "native/browser/web_driver_call.hpp"
#include "native/os/cleanup.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr milliseconds look_up{50};
constexpr milliseconds closing{2000};

Result<ordered_json> post(int port, const std::string& path, const ordered_json& body,
                          milliseconds patience) {
  DriverAnswer answer =
      ask_driver(local_web_driver(port),
                 {.method = "POST", .path = path, .body = json_text(body), .patience = patience});
  if (!answer.ok()) return answer.error();
  return std::move(answer.value);
}

// Whatever comes back: it listens then.
bool answers(int port, milliseconds patience) {
  const auto kind = ask_driver(local_web_driver(port), {.path = "/status", .patience = patience}).kind;
  return kind != DriverAnswer::Kind::no_answer && kind != DriverAnswer::Kind::too_slow;
}

Status wait_for_driver(int port, milliseconds patience, const std::function<bool()>& alive) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!answers(port, patience)) {
    if (CleanupRegistry::instance().closed()) return Error{ErrorKind::cancelled, "stopped"};
    if (!alive()) return missing_error("its driver ended before it answered");
    if (std::chrono::steady_clock::now() > end)
      return missing_error(fmt::format("its driver did not answer for {} s",
                                       std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
    std::this_thread::sleep_for(look_up);
  }
  return {};
}

}  // namespace

Result<int> free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const given = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  // Under Node a socket has its port once it listens.
  const bool bound = probe >= 0 && bind(probe, given, size) == 0 && listen(probe, 1) == 0 &&
                     getsockname(probe, given, &size) == 0;
  if (probe >= 0) close(probe);
  if (!bound) return io_error("no port of this machine is free for a browser's driver");
  return ntohs(address.sin_port);
}

Result<WebDriver> WebDriver::open(int port, const std::string& capabilities, const std::string& url,
                                  milliseconds patience, const std::function<bool()>& alive) {
  DRIFTSCOPE_CHECK(wait_for_driver(port, patience, alive));
  ordered_json wanted;
  wanted["capabilities"]["firstMatch"] = parse_ordered_json(capabilities);
  DRIFTSCOPE_TRY(const ordered_json made, post(port, "/session", wanted, patience));
  WebDriver driver(port);
  driver.session_ = session_in(made);
  if (driver.session_.empty()) return missing_error("its driver gave no session");
  DRIFTSCOPE_CHECK(post(port, "/session/" + driver.session_ + "/url", {{"url", url}}, patience));
  return driver;
}

WebDriver::WebDriver(WebDriver&& other) noexcept
    : port_(other.port_), session_(std::exchange(other.session_, {})) {}

WebDriver::~WebDriver() {
  if (!session_.empty())
    (void)ask_driver(local_web_driver(port_),
                     {.method = "DELETE", .path = "/session/" + session_, .patience = closing});
}

}  // namespace driftscope
