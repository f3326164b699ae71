// Dawn, loaded when a WebGPU device is first asked for. Client: dawn_device.cpp.
#pragma once

#include "core/base/result.hpp"
#include "native/device/dawn_api.hpp"

namespace driftscope::gpu::dawn {

struct Library {
  Functions call = {};
  InstanceImpl* instance = nullptr;
};

/// The library and its one instance; the reason where it cannot be loaded.
[[nodiscard]] const Result<Library>& library();

}  // namespace driftscope::gpu::dawn
