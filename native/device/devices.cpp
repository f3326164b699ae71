// The devices of the PC.
#include "core/device/device.hpp"
#include "native/device/dawn_library.hpp"

namespace driftscope::gpu {
namespace dawn {
Result<std::shared_ptr<Device>> open();
}

Availability device_available(Api api) {
  if (api == Api::webgl) return {false, "WebGL's shaders do not run on the PC in this build"};
  const auto& dawn = dawn::library();
  return dawn.ok() ? Availability{} : Availability{false, dawn.error().message};
}

Result<std::shared_ptr<Device>> open_device(Api api) {
  if (api == Api::webgl) return missing_error(device_available(api).reason);
  // Never destroyed: at the program's end the driver may be gone before it.
  static auto* const kept = new std::shared_ptr<Device>;
  if (*kept == nullptr || (*kept)->lost()) {
    DRIFTSCOPE_TRY(*kept, dawn::open());
  }
  return *kept;
}

}  // namespace driftscope::gpu
