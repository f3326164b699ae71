#include "native/device/dawn_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "native/platform/installed_library.hpp"

namespace driftscope::gpu::dawn {
namespace {

constexpr const char* variable = "DRIFTSCOPE_DAWN";
constexpr std::string_view in_modules = "node_modules/bun-webgpu-linux-x64/libwebgpu_wrapper.so";
// Chromium's package has a Vulkan driver that computes on the CPU; Dawn prefers any GPU to it.
constexpr const char* software_driver = "/usr/lib/chromium/vk_swiftshader_icd.json";

bool has_gpu() {
  std::error_code error;
  for (const char* folder : {"/dev/dri", "/dev/nvidia0", "/dev/dxg", "/dev/kgsl-3d0"})
    if (std::filesystem::exists(folder, error)) return true;
  return false;
}

// Without a GPU it is the only driver: others would fill the terminal with what they miss.
void offer_software_driver() {
  setenv("NODEVICE_SELECT", "1", 0);  // a layer that looks for a display, and complains where there is none
  std::error_code error;
  for (const char* chosen : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"})
    if (std::getenv(chosen) != nullptr) return;
  if (std::filesystem::exists(software_driver, error))
    setenv(has_gpu() ? "VK_ADD_DRIVER_FILES" : "VK_ICD_FILENAMES", software_driver, 0);
}

template <class Function>
bool find(void* handle, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr && missing.empty()) missing = name;
  return function != nullptr;
}

Result<Library> load() {
  DRIFTSCOPE_TRY(const std::string file, installed_library(variable, in_modules, "libwebgpu_dawn.so"));
  const auto advice = [](std::string_view what) {
    return missing_error(
        fmt::format("{}; tools/setup installs Dawn, {} names another copy of it", what, variable));
  };
  offer_software_driver();
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return advice(fmt::format("Dawn: {}", dlerror()));
  Library made;
  std::string missing;
#define DRIFTSCOPE_FIND(name) find(handle, "wgpu" #name, made.call.name, missing)
  DRIFTSCOPE_FIND(CreateInstance);
  DRIFTSCOPE_FIND(InstanceProcessEvents);
  DRIFTSCOPE_FIND(InstanceRequestAdapter);
  DRIFTSCOPE_FIND(AdapterGetInfo);
  DRIFTSCOPE_FIND(AdapterInfoFreeMembers);
  DRIFTSCOPE_FIND(AdapterGetLimits);
  DRIFTSCOPE_FIND(AdapterHasFeature);
  DRIFTSCOPE_FIND(AdapterRequestDevice);
  DRIFTSCOPE_FIND(AdapterRelease);
  DRIFTSCOPE_FIND(DeviceGetQueue);
  DRIFTSCOPE_FIND(DeviceCreateBuffer);
  DRIFTSCOPE_FIND(DeviceCreateShaderModule);
  DRIFTSCOPE_FIND(DeviceCreateComputePipelineAsync);
  DRIFTSCOPE_FIND(DeviceCreateBindGroup);
  DRIFTSCOPE_FIND(DeviceCreateCommandEncoder);
  DRIFTSCOPE_FIND(DeviceCreateQuerySet);
  DRIFTSCOPE_FIND(DeviceDestroy);
  DRIFTSCOPE_FIND(DeviceRelease);
  DRIFTSCOPE_FIND(BufferMapAsync);
  DRIFTSCOPE_FIND(BufferGetConstMappedRange);
  DRIFTSCOPE_FIND(BufferUnmap);
  DRIFTSCOPE_FIND(BufferDestroy);
  DRIFTSCOPE_FIND(BufferRelease);
  DRIFTSCOPE_FIND(ShaderModuleRelease);
  DRIFTSCOPE_FIND(ComputePipelineGetBindGroupLayout);
  DRIFTSCOPE_FIND(ComputePipelineRelease);
  DRIFTSCOPE_FIND(BindGroupLayoutRelease);
  DRIFTSCOPE_FIND(BindGroupRelease);
  DRIFTSCOPE_FIND(CommandEncoderBeginComputePass);
  DRIFTSCOPE_FIND(CommandEncoderCopyBufferToBuffer);
  DRIFTSCOPE_FIND(CommandEncoderResolveQuerySet);
  DRIFTSCOPE_FIND(CommandEncoderFinish);
  DRIFTSCOPE_FIND(CommandEncoderRelease);
  DRIFTSCOPE_FIND(CommandBufferRelease);
  DRIFTSCOPE_FIND(ComputePassEncoderSetPipeline);
  DRIFTSCOPE_FIND(ComputePassEncoderSetBindGroup);
  DRIFTSCOPE_FIND(ComputePassEncoderDispatchWorkgroups);
  DRIFTSCOPE_FIND(ComputePassEncoderEnd);
  DRIFTSCOPE_FIND(ComputePassEncoderRelease);
  DRIFTSCOPE_FIND(QueueWriteBuffer);
  DRIFTSCOPE_FIND(QueueSubmit);
  DRIFTSCOPE_FIND(QueueRelease);
  DRIFTSCOPE_FIND(QuerySetRelease);
#undef DRIFTSCOPE_FIND
  if (!missing.empty()) return advice(fmt::format("{} is not a Dawn library: it lacks {}", file, missing));
  made.instance = made.call.CreateInstance(nullptr);
  if (made.instance == nullptr) return missing_error("Dawn cannot create an instance");
  return made;
}

}  // namespace

const Result<Library>& library() {
  static const Result<Library> loaded = load();
  return loaded;
}

}  // namespace driftscope::gpu::dawn
