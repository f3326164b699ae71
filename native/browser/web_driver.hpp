// A browser that only a WebDriver may start (https://www.w3.org/TR/webdriver2/), as Safari: the driver is a
// program that listens on a port of this machine. Clients: launcher, kinds/safari.cpp.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/base/result.hpp"

namespace driftscope {

/// A port of the loopback interface that nothing listens on now.
[[nodiscard]] Result<int> free_port();

class WebDriver {
 public:
  /// Waits until the driver answers, has it start its browser, and opens the page. `capabilities`: the JSON
  /// of a "firstMatch". Errors: missing, with what the driver said; when `alive` says that it has ended;
  /// after `patience`; cancelled.
  [[nodiscard]] static Result<WebDriver> open(int port, const std::string& capabilities,
                                              const std::string& url, std::chrono::milliseconds patience,
                                              const std::function<bool()>& alive);
  WebDriver(WebDriver&& other) noexcept;
  WebDriver& operator=(WebDriver&&) = delete;
  /// Closes its window, if the driver still answers.
  ~WebDriver();

 private:
  explicit WebDriver(int port) : port_(port) {}

  int port_ = 0;
  std::string session_;
};

}  // namespace driftscope
