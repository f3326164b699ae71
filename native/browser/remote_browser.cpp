#include "native/browser/remote_browser.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "native/os/cleanup.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;
using Kind = DriverAnswer::Kind;

constexpr milliseconds answer_interval{50};

Error stopped() { return Error{ErrorKind::cancelled, "stopped"}; }

std::string session_request(const std::string& capabilities) {
  ordered_json wanted;
  wanted["capabilities"]["alwaysMatch"] = parse_ordered_json(capabilities);
  wanted["capabilities"]["firstMatch"] = ordered_json::array({ordered_json::object()});
  return json_text(wanted);
}

}  // namespace

class RemoteBrowser::Session {
 public:
  /// A session from the moment that it is asked for: the thread of a signal may end it as well.
  class Asked {
   public:
    Asked(const WebDriverAddress& address, const std::string& capabilities, const RemotePatience& patience)
        : address_(address),
          patience_(patience),
          secrets_(secrets_in(parse_ordered_json(capabilities))),
          call_(address, {.method = "POST",
                          .path = "/session",
                          .body = session_request(capabilities),
                          .patience = patience.queue,
                          .secrets = secrets_}) {}

    [[nodiscard]] const DriverAnswer* wait(milliseconds time) { return call_.wait(time); }
    [[nodiscard]] const DriverSecrets& secrets() const { return secrets_; }

    /// Once: whoever comes second waits until the first is done.
    void leave() {
      const std::lock_guard lock(mutex_);
      if (std::exchange(left_, true)) return;
      // What a driver makes for a caller that has hung up may stay for ever.
      (void)call_.wait(patience_.farewell);
      const DriverAnswer& answer = call_.finish(patience_.closing);
      const std::string id = answer.ok() ? session_in(answer.value) : std::string();
      if (!id.empty())
        (void)ask_driver(address_,
                         {.method = "DELETE", .path = "/session/" + id, .patience = patience_.closing});
    }

   private:
    const WebDriverAddress address_;
    const RemotePatience patience_;
    const DriverSecrets secrets_;
    DriverCall call_;
    std::mutex mutex_;
    bool left_ = false;  // guarded by mutex_
  };

  Session(const WebDriverAddress& given, std::shared_ptr<Asked> asked, CleanupRegistry::Id entry)
      : address(given), asked_(std::move(asked)), entry_(entry) {}
  ~Session() {
    asked_->leave();
    CleanupRegistry::instance().remove(entry_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] Asked& asked() { return *asked_; }
  [[nodiscard]] const DriverSecrets& secrets() const { return asked_->secrets(); }

  const WebDriverAddress address;
  std::string path;  ///< "/session/ID"

 private:
  std::shared_ptr<Asked> asked_;
  CleanupRegistry::Id entry_;
};

RemoteBrowser::RemoteBrowser(std::unique_ptr<Session> session, std::string version)
    : session_(std::move(session)), version_(std::move(version)) {}
RemoteBrowser::RemoteBrowser(RemoteBrowser&&) noexcept = default;
RemoteBrowser& RemoteBrowser::operator=(RemoteBrowser&&) noexcept = default;
RemoteBrowser::~RemoteBrowser() = default;

Result<RemoteBrowser> RemoteBrowser::start(const WebDriverAddress& address, const std::string& capabilities,
                                           const GoesOn& goes_on, const RemotePatience& patience) {
  std::shared_ptr<Session::Asked> asked;
  DRIFTSCOPE_TRY(const CleanupRegistry::Id entry,
                 CleanupRegistry::instance().add([&]() -> Result<CleanupRegistry::Undo> {
                   asked = std::make_shared<Session::Asked>(address, capabilities, patience);
                   return CleanupRegistry::Undo([asked] { asked->leave(); });
                 }));
  auto session = std::make_unique<Session>(address, std::move(asked), entry);
  const DriverAnswer* answer = nullptr;
  do {
    if (CleanupRegistry::instance().closed()) return stopped();
    if (goes_on && !goes_on()) return stopped();
  } while ((answer = session->asked().wait(answer_interval)) == nullptr);
  if (!answer->ok()) return missing_error(fmt::format("no browser from {}: {}", address.text(), answer->why));
  const std::string id = session_in(answer->value);
  if (id.empty())
    return missing_error(fmt::format("no browser from {}: its driver gave no session", address.text()));
  session->path = "/session/" + id;
  const auto about = answer->value.find("capabilities");
  return RemoteBrowser(std::move(session),
                       browser_of_capabilities(about == answer->value.end() ? ordered_json() : *about));
}

void RemoteBrowser::open(const std::string& url) {
  constexpr milliseconds to_load{std::chrono::minutes(5)};
  ordered_json body;
  body["url"] = url;
  opening_.reset();
  opening_ = std::make_unique<DriverCall>(session_->address, DriverRequest{.method = "POST",
                                                                           .path = session_->path + "/url",
                                                                           .body = json_text(body),
                                                                           .patience = to_load,
                                                                           .secrets = session_->secrets()});
}

std::optional<std::string> RemoteBrowser::open_failure() const {
  const DriverAnswer* const answer = opening_ ? opening_->wait(milliseconds(0)) : nullptr;
  if (answer == nullptr || answer->ok()) return std::nullopt;
  return answer->why;
}

RemoteBrowser::Look RemoteBrowser::look(milliseconds patience) const {
  const DriverAnswer answer =
      ask_driver(session_->address,
                 {.path = session_->path + "/url", .patience = patience, .secrets = session_->secrets()});
  if (answer.ok()) return {Life::alive, ""};
  const bool gone = answer.code == "invalid session id" || answer.code == "no such window";
  if (gone) return {Life::gone, answer.why};
  return {answer.kind == Kind::too_slow ? Life::slow : Life::failing, answer.why};
}

std::string browser_of_capabilities(const ordered_json& capabilities) {
  constexpr std::size_t widest = 60;
  const auto fact = [&](const char* key) {
    const auto found = capabilities.is_object() ? capabilities.find(key) : capabilities.end();
    const bool there = found != capabilities.end() && found->is_string();
    return there ? plain_text(found->get<std::string>(), widest) : std::string();
  };
  std::string text = fact("browserName");
  if (text.empty()) text = "unknown browser";
  if (const std::string version = fact("browserVersion"); !version.empty()) text += " " + version;
  std::string device = fact("deviceName");
  if (device.empty()) device = fact("appium:deviceName");
  const std::string platform = fact("platformName");
  if (!device.empty() || !platform.empty())
    text += fmt::format(" on {}{}{}", device, device.empty() || platform.empty() ? "" : ", ", platform);
  return text + " (WebDriver)";
}

}  // namespace driftscope
