// Where a WebDriver listens. The user's name and key are in here and leave it in one header alone: text() and
// all errors are without them. Clients: web_driver_call, web_driver_target, the launcher.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/deploy/url.hpp"

namespace driftscope {

struct WebDriverAddress {
  Url url;           ///< its path is what stands before "/session": "/wd/hub", often nothing
  std::string user;  ///< for Basic authentication; empty: none
  std::string key;   ///< password or access key

  /// "https://***@hub.example.org/wd/hub"
  [[nodiscard]] std::string text() const;
};

/// http(s)://[USER:KEY@]HOST[:PORT][/PREFIX]; what URLs cannot hold in USER and KEY is percent-encoded.
/// Errors (bad_input) say what is wrong and never hold USER and KEY.
[[nodiscard]] Result<WebDriverAddress> parse_web_driver_address(std::string_view text);

/// A driver on a port of this machine.
[[nodiscard]] WebDriverAddress local_web_driver(int port);

}  // namespace driftscope
