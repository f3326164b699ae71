#include "native/browser/web_driver_server.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "native/browser/web_driver_target.hpp"
#include "native/platform/cache_folder.hpp"

namespace driftscope {
namespace {

struct Shared {
  std::filesystem::path site;
  std::string origin;
  std::size_t clients = 0;
  std::unique_ptr<Server> server;
};

struct SharedServers {
  std::mutex mutex;
  std::map<int, Shared> by_port;  // guarded by mutex
};

SharedServers& shared_servers() {
  static SharedServers servers;
  return servers;
}

// The port is free again before the next one can ask for it.
void leave_shared(int port) {
  SharedServers& servers = shared_servers();
  const std::lock_guard lock(servers.mutex);
  const auto found = servers.by_port.find(port);
  if (--found->second.clients == 0) servers.by_port.erase(found);
}

Result<std::unique_ptr<Server>> start_server(const std::filesystem::path& site, const WebDriverPage& page) {
  ServerOptions options;
  options.site = site;
  options.packages = package_cache();
  options.port = page.port;
  options.public_origin = page.origin;
  return Server::start(std::move(options));
}

}  // namespace

Result<std::shared_ptr<Server>> web_driver_server(const std::filesystem::path& site,
                                                  const WebDriverOptions& options) {
  DRIFTSCOPE_TRY(const WebDriverPage page, web_driver_page(options));
  if (page.port == 0) {
    DRIFTSCOPE_TRY(std::unique_ptr<Server> own, start_server(site, page));
    return std::shared_ptr<Server>(std::move(own));
  }
  SharedServers& servers = shared_servers();
  const std::lock_guard lock(servers.mutex);
  auto found = servers.by_port.find(page.port);
  if (found == servers.by_port.end()) {
    auto started = start_server(site, page);
    if (!started.ok()) return in_context(std::move(started).error(), "--webdriver-port");
    found = servers.by_port.emplace(page.port, Shared{site, page.origin, 0, *std::move(started)}).first;
  }
  const Shared& shared = found->second;
  if (shared.site != site || shared.origin != page.origin)
    return unsupported(fmt::format(
        "--webdriver-port: port {} serves {} in this command, and {} cannot be served there as well; take "
        "one command for each, or leave --webdriver-port and --webdriver-page out",
        page.port, shared.site.string(), site.string()));
  ++found->second.clients;
  return std::shared_ptr<Server>(shared.server.get(), [port = page.port](Server*) { leave_shared(port); });
}

}  // namespace driftscope
