// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/runtime.hpp"

#include <fmt/format.h>

namespace driftscope::peer {

Error said(const PeerInfo& peer, ErrorKind kind, std::string_view what) {
  // Some runtimes end their messages with a line break.
  what = what.substr(0, what.find_last_not_of(" \n") + 1);
  return {kind, fmt::format("{} {} says: {}", peer.title, peer.version, what)};
}

EngineOption timeout_option() {
  return {.name = "timeout",
          .help = "seconds until the runtime counts as hung",
          .min = 1,
          .max = 86400,
          .default_text = "300"};
}

}  // namespace driftscope::peer
