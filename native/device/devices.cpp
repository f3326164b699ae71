// The devices of the PC.
#include "core/device/device.hpp"
#include "native/device/dawn_library.hpp"
#include "native/device/gles_library.hpp"

namespace driftscope::gpu {
namespace dawn {
Result<std::shared_ptr<Device>> open();
}
namespace gles {
Result<std::shared_ptr<Device>> open();
}

namespace {

template <class Library>
Availability availability(const Result<Library>& library) {
  return library.ok() ? Availability{} : Availability{false, library.error().message};
}

}  // namespace

Availability device_available(Api api) {
  return api == Api::webgl ? availability(gles::library()) : availability(dawn::library());
}

Result<std::shared_ptr<Device>> open_device(Api api) {
  // Never destroyed: at the program's end the driver may be gone before it.
  static auto* const kept = new std::array<std::shared_ptr<Device>, 2>;
  std::shared_ptr<Device>& device = (*kept)[static_cast<std::size_t>(api)];
  if (device == nullptr || device->lost()) {
    DRIFTSCOPE_TRY(device, api == Api::webgl ? gles::open() : dawn::open());
  }
  return device;
}

}  // namespace driftscope::gpu
