// A browser that stays open and runs one job after the other: each is put on the server's board; the browser
// is started on the first, and its page fetches the next ones. After a run that fails the browser is ended,
// and the next job gets another. Clients: run_in_browser, native/host.
#pragma once

#include <memory>
#include <optional>

#include "native/browser/launcher.hpp"
#include "native/browser/page_session.hpp"
#include "native/http/server.hpp"

namespace driftscope {

class BrowserSession final : public PageSession {
 public:
  /// Starts nothing yet. The server must outlive the session.
  BrowserSession(Server& server, HostInfo host) : server_(server), host_(std::move(host)) {}
  /// Ends the browser.
  ~BrowserSession() override { end(); }
  BrowserSession(const BrowserSession&) = delete;
  BrowserSession& operator=(const BrowserSession&) = delete;

  [[nodiscard]] const HostInfo& host() const override { return host_; }
  [[nodiscard]] Result<BrowserOutcome> run(JobContent content, const BrowserOptions& options,
                                           const BrowserProgressCallback& progress) override;

  /// How many browsers were started.
  [[nodiscard]] int starts() const { return starts_; }

 private:
  /// Starts a browser on this job, in place of one that is there.
  [[nodiscard]] Status start(const Job& job);
  [[nodiscard]] Result<BrowserOutcome> watch(Job& job, const BrowserOptions& options,
                                             const BrowserProgressCallback& progress);
  void end();

  Server& server_;
  HostInfo host_;
  std::optional<Browser> browser_;
  std::unique_ptr<BoardEntry> last_;  // the job before, whose page waits for the next
  int starts_ = 0;
};

}  // namespace driftscope
