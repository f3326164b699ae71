#include "native/browser/web_driver_call.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "native/os/resource_limits.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;
using Kind = DriverAnswer::Kind;

constexpr milliseconds to_connect{10000};
constexpr int ok = 200;
constexpr int unauthorized = 401;
constexpr int forbidden = 403;
// Selenium Grid refuses another spelling.
constexpr const char* json_type = "application/json; charset=utf-8";

using Client = std::unique_ptr<httplib::ClientImpl>;

Result<Client> client_for(const WebDriverAddress& address, milliseconds patience) {
  Client client;
  if (address.url.scheme == "http") {
    client = std::make_unique<httplib::ClientImpl>(address.url.host, address.url.port);
  } else {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
    client = std::make_unique<httplib::SSLClient>(address.url.host, address.url.port);
#else
    return missing_error("this build's HTTP library has no TLS: only http:// addresses can be asked");
#endif
  }
  client->set_connection_timeout(std::min(patience, to_connect));
  client->set_read_timeout(patience);
  client->set_write_timeout(patience);
  client->set_follow_location(false);  // the key goes to the address that the user gave alone
  if (!address.user.empty()) client->set_basic_auth(address.user, address.key);
  return client;
}

std::string text_of_key(const ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// {"value": …}, or {"value": {"error": …, "message": …}} with another status (W3C WebDriver, 6.3 and 6.6).
DriverAnswer read_answer(int status, const std::string& body) {
  if (status == unauthorized || status == forbidden)
    return {.kind = Kind::refused,
            .code = "unauthorized",
            .why = fmt::format("it refuses the user or the key (HTTP {}); they belong into the address, as "
                               "https://USER:KEY@HOST/…",
                               status)};
  const auto document = parse_document(body);
  if (!document.ok() || !document->is_object() || !document->contains("value"))
    return {.kind = Kind::other,
            .why = fmt::format("its driver answered HTTP {} and {}, which is no answer of a WebDriver: is "
                               "the path of its address right (often it ends with /wd/hub)?",
                               status, in_quotes(body))};
  const ordered_json& value = (*document)["value"];
  if (status == ok) return {.kind = Kind::value, .value = value};
  constexpr std::size_t most = 400;
  DriverAnswer refused{.kind = Kind::refused};
  std::string message;
  if (value.is_object()) {
    refused.code = text_of_key(value, "error");
    message = text_of_key(value, "message");
    message.resize(std::min(message.find('\n'), message.size()));  // behind it Grid has its versions
  }
  refused.why = fmt::format("its driver says {}",
                            in_quotes(refused.code + (message.empty() ? "" : ": ") + message, most));
  return refused;
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

DriverAnswer send(httplib::ClientImpl& client, const std::string& prefix, const DriverRequest& given) {
  httplib::Request request;
  request.method = given.method;
  request.path = prefix + given.path;
  request.headers = {{"Accept", "application/json"}};
  if (given.method == "POST") {
    request.headers.emplace("Content-Type", json_type);
    request.body = given.body;
  }
  std::string body;
  bool too_long = false;
  request.content_receiver = [&](const char* data, std::size_t size, auto, auto) {
    too_long = body.size() + size > max_driver_answer_bytes;
    if (!too_long) body.append(data, size);
    return !too_long;
  };
  std::atomic<bool> timed_out = false;
  const auto answer = [&] {
    // Also an answer that comes byte by byte ends.
    const TimeLimit limit(given.patience, [&] {
      timed_out = true;
      client.stop();
    });
    return client.send(request);
  }();
  if (too_long)
    return {.kind = Kind::other,
            .why = fmt::format("its driver answered more than {} KiB", max_driver_answer_bytes >> 10)};
  if (answer && !timed_out) return read_answer(answer->status, body);
  if (timed_out || answer.error() == httplib::Error::ConnectionTimeout)
    return {.kind = Kind::too_slow,
            .why = fmt::format("its driver did not answer within {} ms", given.patience.count())};
  return {.kind = Kind::no_answer, .why = "its driver does not answer: " + failure_text(answer.error())};
}

}  // namespace

std::string session_in(const ordered_json& answer) {
  constexpr std::size_t longest = 256;
  std::string id = answer.is_object() ? text_of_key(answer, "sessionId") : std::string();
  const bool plain = std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
  });
  return plain && id.size() <= longest && !id.starts_with('.') ? id : std::string();
}

DriverAnswer ask_driver(const WebDriverAddress& address, const DriverRequest& request) {
  const auto client = client_for(address, request.patience);
  if (!client.ok()) return {.kind = Kind::no_answer, .why = client.error().message};
  return send(**client, address.url.path, request);
}

struct DriverCall::State {
  Client client;
  DriverRequest request;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<DriverAnswer> answer;  // guarded by mutex; does not change any more
  std::thread thread;
};

DriverCall::DriverCall(const WebDriverAddress& address, DriverRequest request)
    : state_(std::make_unique<State>()) {
  auto client = client_for(address, request.patience);
  if (!client.ok()) {
    state_->answer = DriverAnswer{.kind = Kind::no_answer, .why = client.error().message};
    return;
  }
  state_->client = *std::move(client);
  state_->request = std::move(request);
  state_->thread = std::thread([state = state_.get(), prefix = address.url.path] {
    DriverAnswer answer = send(*state->client, prefix, state->request);
    const std::lock_guard lock(state->mutex);
    state->answer = std::move(answer);
    state->changed.notify_all();
  });
}

DriverCall::~DriverCall() { finish(); }

const DriverAnswer* DriverCall::wait(milliseconds time) {
  std::unique_lock lock(state_->mutex);
  if (!state_->changed.wait_for(lock, time, [this] { return state_->answer.has_value(); })) return nullptr;
  return &*state_->answer;
}

const DriverAnswer& DriverCall::finish() {
  // Again and again: what is not connected yet cannot be closed.
  constexpr milliseconds look_up{50};
  while (wait(milliseconds(0)) == nullptr) {
    state_->client->stop();
    (void)wait(look_up);
  }
  if (state_->thread.joinable()) state_->thread.join();
  return *state_->answer;
}

}  // namespace driftscope
