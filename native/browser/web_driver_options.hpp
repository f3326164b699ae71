// Browsers that a WebDriver elsewhere starts, as the command line names them. Clients: RunnerOptions, bench,
// web_driver_target, which reads them.
#pragma once

#include <filesystem>
#include <string>

namespace driftscope {

struct WebDriverOptions {
  std::string url;                          ///< of the endpoint; empty: $DRIFTSCOPE_WEBDRIVER
  std::filesystem::path capabilities = {};  ///< file of named browsers; empty: $DRIFTSCOPE_CAPABILITIES
  /// How those browsers reach the page of this machine: "https://pc.example.org". Empty: as browsers here do.
  std::string page = {};
  int port = 0;  ///< of this machine, on which the page is served; 0: any, or with `page` a fixed one
};

}  // namespace driftscope
