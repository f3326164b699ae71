// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/release.hpp"

#include <algorithm>

#include "core/engines/peer/runtime.hpp"

namespace driftscope::peer {

EngineOption release_option() {
  return {.name = std::string(release_name),
          .help = "another release, fetched from npm when it is first asked for",
          .default_text = "the one that is built in",
          .version = true};
}

EngineOption build_option(std::vector<std::string> builds) {
  std::string first = builds.front();
  return {.name = std::string(build_name),
          .help = "which of the release's builds, as its package names them",
          .values = std::move(builds),
          .default_text = std::move(first)};
}

std::string release_to_fetch(const PeerInfo& peer, const std::map<std::string, std::string>& options) {
  const auto release = options.find(std::string(release_name));
  if (release != options.end() && release->second != peer.version) return release->second;
  const auto build = options.find(std::string(build_name));
  if (build == options.end()) return {};
  const auto known = std::ranges::find(peer.engine.options, build_name, &EngineOption::name);
  const bool here = known != peer.engine.options.end() && known->default_text == build->second;
  return here ? std::string() : peer.version;
}

std::vector<NeededPackage> needed_packages(const PeerInfo& peer, std::string_view host,
                                           const std::map<std::string, std::string>& options) {
  const std::string version = release_to_fetch(peer, options);
  if (version.empty()) return {};
  const bool native = host == "pc" && !peer.under_node;
  std::vector<NeededPackage> needed;
  for (const ReleasePackage& package : native ? peer.releases.native : peer.releases.in_browsers)
    needed.push_back({package, version});
  return needed;
}

}  // namespace driftscope::peer
