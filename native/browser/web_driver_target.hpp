// A browser of a WebDriver as a target names it: webdriver:NAME. What NAME is, is in a file of capabilities,
// or NAME is that of a browser. Clients: the hosts (webdriver, and whoever serves their page), bench.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/target.hpp"
#include "native/browser/web_driver_address.hpp"
#include "native/browser/web_driver_options.hpp"

namespace driftscope {

inline constexpr std::string_view web_driver_prefix = "webdriver:";
inline constexpr const char* web_driver_variable = "DRIFTSCOPE_WEBDRIVER";
inline constexpr const char* capabilities_variable = "DRIFTSCOPE_CAPABILITIES";

[[nodiscard]] bool is_web_driver(std::string_view host);

struct WebDriverTarget {
  std::string host;  ///< "webdriver:pixel8"
  WebDriverAddress address;
  std::string capabilities;  ///< JSON of a W3C capabilities object
};

/// Errors: the target names no browser; no endpoint is given, or not as an address; of the file: what is
/// wrong where.
[[nodiscard]] Result<WebDriverTarget> find_web_driver_target(const Target& target,
                                                             const WebDriverOptions& options);

/// The endpoint of the option or the environment. Errors: missing, where there is none.
[[nodiscard]] Result<WebDriverAddress> web_driver_address(const WebDriverOptions& options);

/// Names of the file of capabilities; none where there is none.
[[nodiscard]] Result<std::vector<std::string>> web_driver_names(const WebDriverOptions& options);

/// Under which origin, and on which port, the page is served to those browsers: "" and 0 where they reach it
/// as browsers here do. Errors: an address that is not of https or this machine, or that has a path.
struct WebDriverPage {
  std::string origin;
  int port = 0;
};
[[nodiscard]] Result<WebDriverPage> web_driver_page(const WebDriverOptions& options);

}  // namespace driftscope
