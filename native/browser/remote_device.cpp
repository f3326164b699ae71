#include "native/browser/remote_device.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "native/http/hub_device.hpp"

namespace driftscope {

bool is_remote(const Target& target) {
  return target.host.starts_with(remote_prefix) || target.host + ":" == remote_prefix;
}

GivenJob::~GivenJob() {
  work_.done = true;
  (void)hub_.give(device_, work_);  // a hub that is gone has no use for it
}

Result<RemoteDevice> RemoteDevice::find(const Target& target) {
  const std::string name =
      target.host.starts_with(remote_prefix) ? target.host.substr(remote_prefix.size()) : std::string();
  if (name.empty())
    return bad_input(
        fmt::format("target {}: which device? expected remote:NAME/{}, as 'driftscope devices' "
                    "lists them",
                    target.text(), target.engine));
  auto hub = HubClient::find();
  if (!hub.ok()) return in_context(std::move(hub).error(), target.host);
  auto device = hub->device(name);
  if (!device.ok()) return in_context(std::move(device).error(), target.host);
  HostInfo host;
  host.host = target.host;
  host.label = hardware_of(*device);
  host.version = fmt::format("{} on {}", browser_of(*device), hardware_of(*device));
  return RemoteDevice(*std::move(hub), name, std::move(host));
}

Result<std::unique_ptr<GivenJob>> RemoteDevice::give(const Server& server, const Job& job,
                                                     const BrowserProgressCallback& progress) const {
  constexpr std::chrono::milliseconds busy_interval{500};
  const messages::HubWork work{.job = job.id(), .port = server.port(), .token = server.token()};
  while (true) {
    const Status given = hub_.give(name_, work);
    if (given.ok()) return std::make_unique<GivenJob>(hub_, name_, work);
    if (given.error().kind != ErrorKind::limit) return given.error();
    if (progress && !progress({})) return Error{ErrorKind::cancelled, host_.host + ": stopped"};
    std::this_thread::sleep_for(busy_interval);
  }
}

}  // namespace driftscope
