// What the tests of browsers elsewhere begin with. Clients: web_driver_test, webdriver_session_test.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "native/browser/remote_browser.hpp"
#include "native/browser/web_driver_address.hpp"

namespace driftscope::testing {

inline constexpr const char* chrome = R"({"browserName":"chrome"})";

inline bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline WebDriverAddress address_of(const std::string& url) {
  auto address = parse_web_driver_address(url);
  REQUIRE_MESSAGE(address.ok(), address.error().message);
  return *std::move(address);
}

inline RemotePatience short_patience() {
  RemotePatience patience;
  patience.farewell = std::chrono::milliseconds(2000);
  return patience;
}

}  // namespace driftscope::testing
