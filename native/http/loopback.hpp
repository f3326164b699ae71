// What servers on the loopback interface have in common. Clients: server, folder_server.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "core/base/result.hpp"
#include "native/http/guard.hpp"
#include "native/http/limited_server.hpp"

namespace driftscope {

[[nodiscard]] std::vector<std::string> headers_of(const httplib::Request& request, const char* name);

[[nodiscard]] RequestFacts facts_of(const httplib::Request& request);

/// `port` 0: any free one. Returns the port. Errors: none is free, or this one is in use.
[[nodiscard]] Result<int> bind_to_loopback(LimitedServer& http, int port);

/// Listens on a thread of its own, which ends after stop_all.
[[nodiscard]] Result<std::thread> listen_on_thread(LimitedServer& http);

}  // namespace driftscope
