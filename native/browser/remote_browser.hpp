// A browser that a WebDriver elsewhere has started: a session, which is deleted however this program ends,
// also one that the driver hands out after nobody waits for it any more (a grid has few browsers, and clouds
// bill them). Clients: webdriver_session, bench.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "native/browser/web_driver_call.hpp"

namespace driftscope {

/// Asked several times a second; false stops the wait.
using GoesOn = std::function<bool()>;

struct RemotePatience {
  std::chrono::milliseconds queue{std::chrono::minutes(15)};  ///< for a browser: a grid has a queue
  /// For a session that was asked for and is not wanted any more.
  std::chrono::milliseconds farewell{5000};
  std::chrono::milliseconds closing{5000};  ///< for the end of a session
};

class RemoteBrowser {
 public:
  /// Waits until the driver has a browser. `capabilities`: JSON of a W3C capabilities object. Errors:
  /// missing, with what the driver said; cancelled.
  [[nodiscard]] static Result<RemoteBrowser> start(const WebDriverAddress& address,
                                                   const std::string& capabilities, const GoesOn& goes_on,
                                                   const RemotePatience& patience = {});
  RemoteBrowser(RemoteBrowser&&) noexcept;
  RemoteBrowser& operator=(RemoteBrowser&&) noexcept;
  ~RemoteBrowser();

  /// "chrome 156.0.8078.79 on linux (WebDriver)", as it says of itself.
  [[nodiscard]] const std::string& version() const { return version_; }
  /// Has it open a page; does not wait for that.
  void open(const std::string& url);
  /// Why the page could not be opened; nothing while it may be.
  [[nodiscard]] std::optional<std::string> open_failure() const;

  enum class Life {
    alive,
    gone,     ///< the driver says that there is no such session, or window
    failing,  ///< it says something else, or nothing listens there
    slow,     ///< no answer in time: it may be busy
  };
  struct Look {
    Life life = Life::alive;
    std::string why;  ///< unless it is alive
  };
  [[nodiscard]] Look look(std::chrono::milliseconds patience) const;

 private:
  class Session;
  RemoteBrowser(std::unique_ptr<Session> session, std::string version);
  std::unique_ptr<Session> session_;
  std::string version_;
  std::unique_ptr<DriverCall> opening_;
};

/// What a session's capabilities say of the browser.
[[nodiscard]] std::string browser_of_capabilities(const nlohmann::ordered_json& capabilities);

}  // namespace driftscope
