// What --listen ADDRESS[:PORT] means on this machine. Clients: hub_front, tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

inline constexpr int default_listen_port = 8458;  ///< the next to the hub's own

struct ListenAddress {
  std::string address;  ///< IPv4; "0.0.0.0": all of this machine's ("all" as well)
  int port = default_listen_port;
};

/// Errors say what was expected; `text` is the user's.
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);

/// An address of this machine.
struct OwnAddress {
  std::string address;
  bool point_to_point = false;  ///< a tunnel's, as a rule: other machines of the network are elsewhere
};

/// Those of interfaces that are up, but for loopback ones.
[[nodiscard]] std::vector<OwnAddress> own_addresses();
/// From which of them the world is reached; empty: from none. Sends nothing.
[[nodiscard]] std::string default_address();

/// What devices find it by, the best first: the default route's if it is a network's, else a private one.
/// Errors: the address is not this machine's; for all: it has none that others reach.
[[nodiscard]] Result<std::vector<std::string>> reachable_addresses(const std::string& listen,
                                                                   const std::vector<OwnAddress>& own,
                                                                   const std::string& by_default);

}  // namespace driftscope
