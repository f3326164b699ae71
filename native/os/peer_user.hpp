// Which user is at the other end of a connection on the loopback interface. Client: native/http.
#pragma once

#include <sys/types.h>

#include <optional>

namespace driftscope {

/// The user of the other end of a connected TCP socket (IPv4) on this machine, as the kernel says
/// (sock_diag(7)). Nothing where it cannot say: the other end is elsewhere, already closed (what remains of
/// it would be root's) or not accepted yet, or the system lacks sock_diag.
[[nodiscard]] std::optional<uid_t> user_of_peer(int socket);

/// Whether the kernel answers at all, tried with a socket of our own; true as long as that cannot be tried.
[[nodiscard]] bool knows_users_of_peers();

}  // namespace driftscope
