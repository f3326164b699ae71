// What the page of the server's owner may run, over HTTP: on this PC, and on the devices of the hub. Client:
// server.
#pragma once

#include <httplib.h>

#include <optional>
#include <string>

#include "native/http/pc_runs.hpp"
#include "native/http/server.hpp"

namespace driftscope {

/// True, or absent: whether api/targets is there.
[[nodiscard]] std::optional<bool> offers_targets(const ServerOptions& options);

/// `prefix` is a pattern of the owner's addresses: a device's segment is not in it. Options and runs must
/// outlive the server.
void add_run_routes(httplib::Server& server, const std::string& prefix, const ServerOptions& options,
                    PcRuns& runs);

}  // namespace driftscope
