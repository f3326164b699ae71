#include "core/engines/peer/runtime.hpp"

#include <fmt/format.h>

namespace driftscope::peer {

Error said(const PeerInfo& peer, ErrorKind kind, std::string_view what) {
  // Some runtimes end their messages with a line break.
  what = what.substr(0, what.find_last_not_of(" \n") + 1);
  return {kind, fmt::format("{} {} says: {}", peer.title, peer.version, what)};
}

}  // namespace driftscope::peer
