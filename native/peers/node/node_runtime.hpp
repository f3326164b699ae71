// Peers whose JavaScript runs in a Node process, on the PC. Client: the generated table of peers.
#pragma once

#include "core/engines/peer/runtime.hpp"

namespace driftscope::node {

/// The runtime of a peer with PeerInfo::under_node. One process for each peer, started with its first model
/// and kept; it is replaced when it has ended.
[[nodiscard]] const peer::Runtime& runtime_of(const peer::PeerInfo& peer);

}  // namespace driftscope::node
