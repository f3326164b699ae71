#include "native/host/provide_packages.hpp"

#include "core/engines/peer/peer_engine.hpp"
#include "native/packages/npm.hpp"

namespace driftscope {

Status provide_packages(const Target& target, const TargetProgress& progress) {
  const auto engine = find_engine(target.engine);
  if (!engine.ok()) return {};  // a file, or an error that the host words better
  const auto* const peer = dynamic_cast<const peer::PeerEngine*>(*engine);
  if (peer == nullptr) return {};
  for (const peer::NeededPackage& needed :
       peer::needed_packages(peer->info_of_peer(), target.host, target.options)) {
    const auto provided = provide_package(needed, [&](std::string_view step) { progress(step, 0, 0); });
    if (!provided.ok()) return provided.error();
  }
  return {};
}

}  // namespace driftscope
