// Runs in this process. Clients: the host pc; the host node, for the reference, which has no module of its
// own.
#pragma once

#include <memory>

#include "native/host/host.hpp"

namespace driftscope {

[[nodiscard]] std::unique_ptr<HostSession> in_process_session(Target target);

}  // namespace driftscope
