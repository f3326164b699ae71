// Whether a session of a WebDriver is still there, asked about once a second on a thread of its own: the
// answer may take long, as some drivers wait for a page that computes. Asking also keeps a grid from ending a
// session that it takes for idle. Client: webdriver_session.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "native/browser/remote_browser.hpp"

namespace driftscope {

class SessionProbe {
 public:
  /// The browser must outlive it.
  explicit SessionProbe(const RemoteBrowser& browser);
  ~SessionProbe();
  SessionProbe(const SessionProbe&) = delete;
  SessionProbe& operator=(const SessionProbe&) = delete;

  struct Seen {
    bool gone = false;  ///< the driver has said so
    int failures = 0;   ///< in sequence: nothing listens there, or it says something else
    std::string why;    ///< of the last one
  };
  [[nodiscard]] Seen seen() const;

 private:
  void work();

  const RemoteBrowser& browser_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // guarded by mutex_, as seen_
  Seen seen_;
  std::thread thread_;
};

/// Why the session is lost, as the end of a sentence that begins with the browser; nothing while it may not
/// be. `silence`: since the page's last sign of life. A driver that is slow, or that fails while the page
/// lives, says nothing.
[[nodiscard]] std::optional<std::string> lost_session(const SessionProbe::Seen& seen,
                                                      std::chrono::milliseconds silence);

}  // namespace driftscope
