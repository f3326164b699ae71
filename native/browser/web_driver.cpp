#include "native/browser/web_driver.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "native/os/cleanup.hpp"

namespace driftscope {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr const char* loopback = "127.0.0.1";
constexpr milliseconds look_up{50};
constexpr milliseconds closing{2000};

httplib::Client client_of(int port, milliseconds patience) {
  httplib::Client client(loopback, port);
  client.set_connection_timeout(patience);
  client.set_read_timeout(patience);
  client.set_write_timeout(patience);
  return client;
}

std::string text_at(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The "value" of an answer, or what the driver says went wrong: {"value": {"error": …, "message": …}}.
Result<json> value_in(const httplib::Result& answer) {
  if (!answer) return missing_error("its driver does not answer: " + httplib::to_string(answer.error()));
  const json body = json::parse(answer->body, nullptr, false);
  if (!body.is_object() || !body.contains("value"))
    return missing_error("its driver answered " + in_quotes(answer->body));
  const json& value = body["value"];
  if (answer->status == 200) return value;
  const std::string error = value.is_object() ? text_at(value, "error") : std::string();
  const std::string message = value.is_object() ? text_at(value, "message") : std::string();
  constexpr std::size_t most = 400;
  return missing_error("its driver says " + in_quotes(error + (message.empty() ? "" : ": " + message), most));
}

Result<json> post(int port, const std::string& path, const json& body, milliseconds patience) {
  return value_in(client_of(port, patience).Post(path, json_text(body), "application/json; charset=utf-8"));
}

Status wait_for_driver(int port, milliseconds patience, const std::function<bool()>& alive) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!client_of(port, patience).Get("/status")) {
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
  const json wanted = json::parse(capabilities, nullptr, false);
  DRIFTSCOPE_TRY(const json made,
                 post(port, "/session", {{"capabilities", {{"firstMatch", wanted}}}}, patience));
  WebDriver driver(port);
  driver.session_ = made.is_object() ? text_at(made, "sessionId") : std::string();
  if (driver.session_.empty()) return missing_error("its driver gave no session");
  DRIFTSCOPE_CHECK(post(port, "/session/" + driver.session_ + "/url", {{"url", url}}, patience));
  return driver;
}

WebDriver::WebDriver(WebDriver&& other) noexcept
    : port_(other.port_), session_(std::exchange(other.session_, {})) {}

WebDriver::~WebDriver() {
  if (!session_.empty()) (void)client_of(port_, closing).Delete("/session/" + session_);
}

}  // namespace driftscope
