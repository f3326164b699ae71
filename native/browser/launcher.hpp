// A browser on one page, with a profile folder, a display and processes of its own, which are all
// removed when it is ended. Client: run_in_browser.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "native/browser/browsers.hpp"
#include "native/browser/web_driver.hpp"
#include "native/browser/xvfb.hpp"
#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {

class Browser {
 public:
  [[nodiscard]] static Result<Browser> start(const HostInfo& host, const std::string& url);
  Browser(Browser&&) noexcept = default;
  Browser& operator=(Browser&&) = delete;
  ~Browser();

  [[nodiscard]] bool running() const;
  /// Its exit status and the end of its log, for a message.
  [[nodiscard]] std::string exit_text() const;
  /// As of native/os/idle.hpp.
  void wait_until_idle() const;
  /// PSS of its processes (not of the display's), bytes.
  [[nodiscard]] std::int64_t memory() const;
  /// PSS of the process that talks to the GPU, bytes; 0 where there is none of its own.
  [[nodiscard]] std::int64_t gpu_process_memory() const;
  /// Ends all its processes and removes its folder.
  void end();

 private:
  explicit Browser(TempFolder folder) : folder_(std::move(folder)) {}

  // In the order of creation; they are destroyed in reverse.
  TempFolder folder_;
  std::optional<TempFolder> sockets_;  // where the path of folder_ is too long for a socket's
  std::optional<Xvfb> display_;
  std::optional<ChildProcess> process_;
  std::optional<WebDriver> driver_;  // which the process is
};

}  // namespace driftscope
