// Runs in a process of a program that is installed. Client: the host pc of the program under Node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "native/host/host.hpp"

namespace driftscope {

/// `program`: as Host::worker_program. It is started with the first run and serves those that follow; after
/// one that failed there is another process.
[[nodiscard]] std::unique_ptr<HostSession> worker_session(Target target, std::vector<std::string> program,
                                                          const RunnerOptions& options);

}  // namespace driftscope
