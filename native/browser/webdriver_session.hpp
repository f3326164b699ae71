// A browser that a WebDriver elsewhere starts, and that stays for one job after the other: as in
// browser_session.hpp, but its processes are out of reach, so that their memory is not known and the driver
// is asked whether they live. Client: the host webdriver.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "native/browser/page_life.hpp"
#include "native/browser/page_session.hpp"
#include "native/browser/session_probe.hpp"
#include "native/browser/web_driver_target.hpp"
#include "native/http/server.hpp"

namespace driftscope {

/// The job's page for browsers elsewhere: under the server's public origin where it has one.
[[nodiscard]] std::string remote_job_url(const Server& server, const Job& job);

class WebDriverSession final : public PageSession {
 public:
  /// Asks for nothing yet. The server must outlive the session.
  WebDriverSession(Server& server, WebDriverTarget target, const RemotePatience& patience = {});
  /// Ends the browser.
  ~WebDriverSession() override { end(); }
  WebDriverSession(const WebDriverSession&) = delete;
  WebDriverSession& operator=(const WebDriverSession&) = delete;

  /// Sees to it that there is a browser: another where the last one is gone. Then host() says which. Errors:
  /// of RemoteBrowser::start.
  [[nodiscard]] Status connect(const GoesOn& goes_on);
  [[nodiscard]] const HostInfo& host() const override { return host_; }
  /// connect(), until `progress` says that nobody waits.
  [[nodiscard]] Status prepare(const BrowserProgressCallback& progress) override;
  /// Beside the errors of PageSession: the session was lost in the middle, with the phase and how far it was.
  [[nodiscard]] Result<BrowserOutcome> run(JobContent content, const BrowserOptions& options,
                                           const BrowserProgressCallback& progress) override;
  /// Whether the last run ended because its browser or the machine of that was gone.
  [[nodiscard]] bool was_lost() const { return lost_; }
  /// Whether run() waits for a browser.
  [[nodiscard]] bool connecting() const { return connecting_; }

 private:
  [[nodiscard]] Result<BrowserOutcome> watch(Job& job, const BrowserOptions& options,
                                             const BrowserProgressCallback& progress);
  [[nodiscard]] std::optional<std::string> trouble(const Job::Snapshot& now, const SessionProbe::Seen& seen,
                                                   Clock::time_point asked, const LifeLimits& limits);
  /// In a browser of the version that the job says. Errors: of connect(); there is only another.
  [[nodiscard]] Status open(const Job& job, const BrowserProgressCallback& progress);
  [[nodiscard]] Error ended(const std::string& how) const;
  void end();

  Server& server_;
  const WebDriverTarget target_;
  const RemotePatience patience_;
  HostInfo host_;
  std::optional<RemoteBrowser> browser_;
  Clock::time_point used_{};          // the browser, last
  std::unique_ptr<BoardEntry> last_;  // the job before, whose page waits for the next
  bool lost_ = false;
  bool connecting_ = false;
};

}  // namespace driftscope
