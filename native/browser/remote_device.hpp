// A device of the hub as a target names it: remote:NAME. Clients: remote_session, the host remote, bench.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "native/browser/browsers.hpp"
#include "native/browser/page_session.hpp"
#include "native/http/hub_client.hpp"
#include "native/http/server.hpp"

namespace driftscope {

inline constexpr std::string_view remote_prefix = "remote:";

[[nodiscard]] bool is_remote(const Target& target);

/// A job that a device has been given; the hub takes it back at the end, however that comes about.
class GivenJob {
 public:
  GivenJob(HubClient hub, std::string device, messages::HubWork work)
      : hub_(std::move(hub)), device_(std::move(device)), work_(std::move(work)) {}
  ~GivenJob();
  GivenJob(const GivenJob&) = delete;
  GivenJob& operator=(const GivenJob&) = delete;

 private:
  HubClient hub_;
  std::string device_;
  messages::HubWork work_;
};

class RemoteDevice {
 public:
  /// Errors: no hub runs, the target names no device, or none that has joined.
  [[nodiscard]] static Result<RemoteDevice> find(const Target& target);

  [[nodiscard]] const HostInfo& host() const { return host_; }
  /// What the hub knows of it now.
  [[nodiscard]] Result<messages::HubDevice> now() const { return hub_.device(name_); }
  /// Has it run a job of this server. Waits while it has another; `progress` can stop that.
  [[nodiscard]] Result<std::unique_ptr<GivenJob>> give(const Server& server, const Job& job,
                                                       const BrowserProgressCallback& progress) const;

 private:
  RemoteDevice(HubClient hub, std::string name, HostInfo host)
      : hub_(std::move(hub)), name_(std::move(name)), host_(std::move(host)) {}

  HubClient hub_;
  std::string name_;
  HostInfo host_;
};

}  // namespace driftscope
