// Node does not say whose a connection is; the page's unguessable address keeps others out.
#include "native/os/peer_user.hpp"

namespace driftscope {

std::optional<uid_t> user_of_peer(int /*socket*/) { return std::nullopt; }
bool knows_users_of_peers() { return false; }

}  // namespace driftscope
