#include "native/http/offered_targets.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/base/format.hpp"
#include "core/runtime/engine.hpp"
#include "native/http/hub_device.hpp"

namespace driftscope {
namespace {

/// Whether a fact is there and says no.
bool denies(const messages::HubDevice& device, const char* fact) {
  if (!device.about.is_object()) return false;
  const auto found = device.about.find(fact);
  return found != device.about.end() && (found->is_null() || *found == false);
}

/// An API that the browser says it lacks; one of which it says nothing it may have.
bool lacks(const messages::HubDevice& device, std::string_view api) {
  if (api == "WebGPU") return denies(device, "webgpu") || denies(device, "adapter");
  if (api.starts_with("WebGL")) return denies(device, "webgl2") || denies(device, "renderer");
  return false;
}

/// What a device says of itself becomes part of the page.
std::string about(const messages::HubDevice& device) {
  constexpr std::size_t longest = 200;
  return plain_text(fmt::format("{} on {}: {}", browser_of(device), hardware_of(device), state_of(device)),
                    longest);
}

}  // namespace

bool runs_on_devices(const EngineInfo& engine) {
  return engine.in_browsers && engine.browser_feature.empty();
}

messages::OfferedTargets offered_targets(std::span<const messages::HubDevice> devices) {
  messages::OfferedTargets offered;
  for (const messages::HubDevice& device : devices) {
    bool first = true;
    for (const auto& engine : engines()) {
      const EngineInfo& info = engine->info();
      if (!runs_on_devices(info)) continue;
      messages::OfferedTarget& one = offered.targets.emplace_back();
      one.target = fmt::format("remote:{}/{}", device.name, info.name);
      const bool missing = lacks(device, info.browser_api);
      one.available = is_here(device) && !missing;
      if (std::exchange(first, false))
        one.detail = about(device);
      else if (missing)
        one.detail = fmt::format("this browser has no {}", info.browser_api);
    }
  }
  return offered;
}

}  // namespace driftscope
