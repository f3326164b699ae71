#include "native/browser/web_driver_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "native/browser/driver_client.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;
using Kind = DriverAnswer::Kind;

constexpr int ok = 200;
constexpr int unauthorized = 401;
constexpr int forbidden = 403;

std::string text_of_key(const ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// {"value": …}, or {"value": {"error": …, "message": …}} with another status (W3C WebDriver, 6.3 and 6.6).
DriverAnswer read_answer(int status, const std::string& body, const DriverSecrets& secrets) {
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
                               status, in_quotes(without_secrets(body, secrets)))};
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
  const std::string said = refused.code + (message.empty() ? "" : ": ") + message;
  refused.why = fmt::format("its driver says {}", in_quotes(without_secrets(said, secrets), most));
  return refused;
}

DriverAnswer answer_of(const DriverReply& reply, const DriverRequest& request, const DriverSecrets& secrets) {
  switch (reply.end) {
    case DriverReply::End::answered: return read_answer(reply.status, reply.body, secrets);
    case DriverReply::End::too_long:
      return {.kind = Kind::other,
              .why = fmt::format("its driver answered more than {} KiB, or with a header that is too long",
                                 max_driver_answer_bytes >> 10)};
    case DriverReply::End::too_slow:
      return {.kind = Kind::too_slow,
              .why = fmt::format("its driver did not answer within {} ms", request.patience.count())};
    case DriverReply::End::stopped:
      return {.kind = Kind::no_answer, .why = "its driver was not waited for any longer"};
    case DriverReply::End::failed: break;
  }
  return {.kind = Kind::no_answer, .why = "its driver does not answer: " + reply.why};
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
  constexpr milliseconds late{1000};
  DriverCall call(address, request);
  if (const DriverAnswer* const answer = call.wait(request.patience + late)) return *answer;
  DriverAnswer answer = call.finish();
  if (answer.kind != Kind::no_answer) return answer;
  return answer_of({.end = DriverReply::End::too_slow}, request, {});
}

struct DriverCall::State {
  std::unique_ptr<DriverClient> client;
  DriverRequest request;
  std::string path;
  DriverSecrets secrets;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<DriverAnswer> answer;  // guarded by mutex; does not change any more

  void work() {
    DriverAnswer made;
    try {
      made = answer_of(client->send(request.method, path, request.body), request, secrets);
    } catch (const std::exception&) {  // memory may run out
      made = {.kind = Kind::other, .why = "the answer of its driver cannot be read"};
    }
    const std::lock_guard lock(mutex);
    if (!answer) answer = std::move(made);
    changed.notify_all();
  }
};

DriverCall::DriverCall(const WebDriverAddress& address, DriverRequest request)
    : state_(std::make_shared<State>()) {
  auto client = DriverClient::make(address, {request.patience, max_driver_answer_bytes});
  if (!client.ok()) {
    state_->answer = DriverAnswer{.kind = Kind::no_answer, .why = client.error().message};
    return;
  }
  state_->client = *std::move(client);
  state_->path = address.url.path + request.path;
  state_->secrets = secrets_of(address);
  state_->secrets.insert(state_->secrets.end(), request.secrets.begin(), request.secrets.end());
  state_->request = std::move(request);
  thread_ = std::thread([state = state_] { state->work(); });
}

DriverCall::~DriverCall() { finish(); }

const DriverAnswer* DriverCall::wait(milliseconds time) {
  std::unique_lock lock(state_->mutex);
  if (!state_->changed.wait_for(lock, time, [this] { return state_->answer.has_value(); })) return nullptr;
  return &*state_->answer;
}

const DriverAnswer& DriverCall::finish(milliseconds most) {
  // Again and again: the name may have several addresses.
  constexpr milliseconds again{50};
  const auto end = std::chrono::steady_clock::now() + most;
  while (wait(milliseconds(0)) == nullptr && std::chrono::steady_clock::now() < end) {
    state_->client->end();
    (void)wait(again);
  }
  std::unique_lock lock(state_->mutex);
  const bool given_up = !state_->answer;
  if (given_up)
    state_->answer =
        DriverAnswer{.kind = Kind::no_answer, .why = "its driver does not answer: its name is looked up"};
  lock.unlock();
  if (thread_.joinable() && given_up) thread_.detach();
  if (thread_.joinable()) thread_.join();
  return *state_->answer;
}

}  // namespace driftscope
