// A page that somebody has opened elsewhere and that has joined the hub: jobs are on a server of this
// program, and the hub passes on what the page asks of it. Nothing is started and nothing ended here. Client:
// the host remote.
#pragma once

#include <optional>
#include <utility>

#include "native/browser/remote_device.hpp"

namespace driftscope {

class RemoteSession final : public PageSession {
 public:
  /// The server must outlive the session. Set by each run: `lost` to what the page says of its own end,
  /// `conditions` to those that it saw, as of a device.
  RemoteSession(Server& server, RemoteDevice device, std::optional<messages::LostJob>& lost,
                std::optional<nlohmann::json>& conditions)
      : server_(server), device_(std::move(device)), lost_job_(lost), conditions_(conditions) {}

  [[nodiscard]] const HostInfo& host() const override { return device_.host(); }
  /// Waits for the device while it has another job. Errors, beside those of PageSession: it was lost in the
  /// middle (the message says where, as the page reports it after a reload, or that it fell silent); it has
  /// left; the hub has ended.
  [[nodiscard]] Result<BrowserOutcome> run(JobContent content, const BrowserOptions& options,
                                           const BrowserProgressCallback& progress) override;

 private:
  [[nodiscard]] Result<BrowserOutcome> watch(Job& job, const BrowserOptions& options,
                                             const BrowserProgressCallback& progress);
  [[nodiscard]] std::optional<Error> trouble(const Job& job, const Job::Snapshot& now,
                                             const BrowserOptions& options,
                                             const messages::HubDevice& device) const;
  void ask_for_conditions(const std::string& job);
  [[nodiscard]] Error lost(const std::string& how) const;

  Server& server_;
  RemoteDevice device_;
  std::optional<messages::LostJob>& lost_job_;
  std::optional<nlohmann::json>& conditions_;
};

}  // namespace driftscope
