// One request to a WebDriver (https://www.w3.org/TR/webdriver2/), and what came of it. Whatever answers there
// is not trusted: sizes and times are limited. Clients: web_driver, remote_browser.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "core/base/result.hpp"
#include "native/browser/driver_secrets.hpp"
#include "native/browser/web_driver_address.hpp"

namespace driftscope {

/// The answer of a driver, or why there is none.
struct DriverAnswer {
  enum class Kind {
    value,      ///< what was asked for
    refused,    ///< an error that the driver names
    other,      ///< an answer that is not a WebDriver's
    too_slow,   ///< none in time
    no_answer,  ///< no connection, or one that ended
  };
  Kind kind = Kind::no_answer;
  nlohmann::ordered_json value = {};
  std::string code = {};  ///< of an error: "invalid session id"
  std::string why = {};   ///< where there is no value: "its driver says '…'"

  [[nodiscard]] bool ok() const { return kind == Kind::value; }
  /// `why` as an error (missing).
  [[nodiscard]] Error error() const { return missing_error(why); }
};

struct DriverRequest {
  std::string method = "GET";
  std::string path = {};  ///< below the address: "/session"
  std::string body = {};  ///< JSON, of a POST
  std::chrono::milliseconds patience{10000};
  DriverSecrets secrets = {};  ///< beside user and key: what no message may hold
};

/// Larger answers are refused: those that are asked for here have a few kilobytes.
inline constexpr std::size_t max_driver_answer_bytes = std::size_t{1} << 20;

/// The id in what answers New Session; empty: there is none that can stand in a path.
[[nodiscard]] std::string session_in(const nlohmann::ordered_json& answer);

[[nodiscard]] DriverAnswer ask_driver(const WebDriverAddress& address, const DriverRequest& request);

/// The same on a thread of its own.
class DriverCall {
 public:
  DriverCall(const WebDriverAddress& address, DriverRequest request);
  /// Ends it.
  ~DriverCall();
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

  /// Null where there is none within this time.
  [[nodiscard]] const DriverAnswer* wait(std::chrono::milliseconds time);
  /// Closes the connection where no answer has come. What the driver did by then is in the answer. Waits for
  /// that `most`, which the look-up of a name may exceed; nothing is sent any more then.
  const DriverAnswer& finish(std::chrono::milliseconds most = std::chrono::milliseconds(2000));

 private:
  struct State;
  std::shared_ptr<State> state_;  // also the thread's, which may end later
  std::thread thread_;
};

}  // namespace driftscope
