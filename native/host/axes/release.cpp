// The releases of a runtime, as npm lists its package; those before a stable one ("-dev", "-rc") only where
// --levels names them.
#include <fmt/format.h>

#include <algorithm>

#include "core/engines/peer/peer_engine.hpp"
#include "native/host/bisect_axis.hpp"
#include "native/packages/npm.hpp"

namespace driftscope::bisect_axes::release {

static Result<std::vector<AxisLevel>> levels(const AxisRequest& request) {
  const auto* const peer = dynamic_cast<const peer::PeerEngine*>(&request.engine);
  std::vector<peer::NeededPackage> packages;
  if (peer != nullptr)
    packages = peer::needed_packages(peer->info_of_peer(), request.target.host,
                                     {{std::string(peer::release_name), "0"}});
  if (packages.empty())
    return bad_input(fmt::format("--over release: engine {} has only the release that it was built with",
                                 request.engine.name()));
  DRIFTSCOPE_TRY(std::vector<std::string> all, package_versions(packages.front().package.name));
  const bool named = std::ranges::any_of(
      request.given, [](const std::string& level) { return level.find('-') != std::string::npos; });
  const std::string& since = peer->info_of_peer().releases.since;
  if (const auto first = std::ranges::find(all, since); first != all.end() && request.given.empty())
    all.erase(all.begin(), first);
  std::erase_if(all,
                [&](const std::string& version) { return !named && version.find('-') != std::string::npos; });
  DRIFTSCOPE_TRY(const auto chosen, chosen_levels(all, request.given, "release"));
  return levels_of_option(std::string(peer::release_name), chosen);
}

void add_to(AxisTable& table) {
  table.add({.name = "release",
             .summary = "the releases of the runtime, fetched from npm as they are needed; --levels "
                        "1.22.0..1.25.1 for some of them",
             .levels = levels});
}

}  // namespace driftscope::bisect_axes::release
