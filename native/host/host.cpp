#include "native/host/host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "native/browser/web_driver_server.hpp"
#include "native/platform/cache_folder.hpp"
#include "native/platform/site.hpp"

namespace driftscope {

Result<Server*> HostContext::server() {
  if (!server_) {
    DRIFTSCOPE_TRY(const auto site, find_site(options.site));
    ServerOptions server_options;
    server_options.site = site;
    server_options.packages = package_cache();
    DRIFTSCOPE_TRY(server_, Server::start(std::move(server_options)));
  }
  return server_.get();
}

Result<Server*> HostContext::web_driver_server() {
  if (!web_driver_server_) {
    DRIFTSCOPE_TRY(const auto site, find_site(options.site));
    DRIFTSCOPE_TRY(web_driver_server_, driftscope::web_driver_server(site, options.web_driver));
  }
  return web_driver_server_.get();
}

Result<std::vector<CaseRun>> HostSession::run_all(std::span<const RunRequest> requests,
                                                  const TargetProgress& progress) {
  std::vector<CaseRun> runs;
  for (const RunRequest& request : requests) {
    progress("running", static_cast<std::int64_t>(runs.size()), static_cast<std::int64_t>(requests.size()));
    runs.push_back({run(request, [](auto, auto, auto) {})});
  }
  return runs;
}

Result<NodePrograms> HostSession::programs(const RunRequest& /*request*/, NodeId /*node*/,
                                           const TargetProgress& /*progress*/) {
  return unsupported("this host has no engines with shaders");
}

void HostTable::add(std::unique_ptr<Host> host) {
  const auto later = [](int order, const std::unique_ptr<Host>& other) {
    return order < other->facts().order;
  };
  hosts_.insert(std::upper_bound(hosts_.begin(), hosts_.end(), host->facts().order, later), std::move(host));
}

Result<const Host*> find_host(const Target& target) {
  std::vector<std::string_view> names;
  const std::string_view kind = std::string_view(target.host).substr(0, target.host.find(':'));
  for (const auto& host : host_table().all()) {
    if (host->facts().name == kind) return host.get();
    names.push_back(host->facts().name);
  }
  return bad_input(fmt::format("target {}: there is no host '{}'; hosts are {}", target.text(), target.host,
                               fmt::join(names, ", ")));
}

}  // namespace driftscope
