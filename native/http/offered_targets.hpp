// The devices of a hub as targets for the page of its owner: each with every engine that devices run.
// Clients: server, the host remote.
#pragma once

#include <span>

#include "core/runtime/engine_info.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

/// Whether browsers that somebody has opened can run it at all.
[[nodiscard]] bool runs_on_devices(const EngineInfo& engine);

/// The first of a device says in `detail` what that is and does; of the others one that it lacks, why.
[[nodiscard]] messages::OfferedTargets offered_targets(std::span<const messages::HubDevice> devices);

}  // namespace driftscope
