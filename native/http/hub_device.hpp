// What a hub's device says of itself, in words. Clients: the command devices, the host remote.
#pragma once

#include <string>

#include "generated/protocol/messages.hpp"

namespace driftscope {

/// A fact of `about` as a text; empty: it does not say.
[[nodiscard]] std::string fact_of(const messages::HubDevice& device, const char* key);

/// "Chrome 156.0.0.0"; "unknown browser" where it says none.
[[nodiscard]] std::string browser_of(const messages::HubDevice& device);
/// "Pixel 8, Android 16, 8 processors, 8 GB": as much of it as is known.
[[nodiscard]] std::string hardware_of(const messages::HubDevice& device);
/// "arm valhall (WebGPU)", "WebGL2: Mali-G715", "none".
[[nodiscard]] std::string adapter_of(const messages::HubDevice& device);
/// "ready", "running", "page hidden", "silent for 3 min".
[[nodiscard]] std::string state_of(const messages::HubDevice& device);

/// Whether its page was heard a moment ago.
[[nodiscard]] bool is_here(const messages::HubDevice& device);

/// Where its page was when it ended: "in the run, after 12 of 40 layers ; its page had taken 812
/// MiB".
[[nodiscard]] std::string lost_text(const messages::LostJob& lost);

}  // namespace driftscope
