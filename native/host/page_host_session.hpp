// Runs of a target by a page: of a browser that was started, or of a device. Clients: the hosts browsers and
// remote.
#pragma once

#include <memory>

#include "native/browser/page_session.hpp"
#include "native/host/host.hpp"

namespace driftscope {

/// `lost`, if not null, is set by each run: whether the browser was lost, and not its page reported an error.
[[nodiscard]] std::unique_ptr<HostSession> page_host_session(Target target, const RunnerOptions& options,
                                                             std::unique_ptr<PageSession> page,
                                                             bool* lost = nullptr);

}  // namespace driftscope
