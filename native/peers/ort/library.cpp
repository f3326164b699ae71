#include "native/peers/ort/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "core/engines/ort/ort.hpp"
#include "native/platform/installed_library.hpp"

namespace driftscope::ort {
namespace {

constexpr std::string_view in_modules =
    "node_modules/onnxruntime-node/bin/napi-v6/" DRIFTSCOPE_NODE_PLATFORM "/libonnxruntime.so.1";
constexpr const char* system_name = "libonnxruntime.so.1";
constexpr const char* variable = "DRIFTSCOPE_ONNXRUNTIME";

Error missing_library(std::string_view what) {
  return missing_error(
      fmt::format("{}; tools/setup installs ONNX Runtime {}, {} names another copy of "
                  "it (libonnxruntime.so.1)",
                  what, peer_info().version, variable));
}

// ONNX Runtime's errors are returned as a status; its log would go to the terminal.
void ORT_API_CALL ignore_log(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

// From the moment it is loaded, and whatever its API is set to later, it would send telemetry: it keeps an
// identifier of this device and a database in the user's cache and a log in the folder for temporary files,
// and uploads them.
void forbid_telemetry() { setenv("ORT_DISABLE_TELEMETRY", "1", 1); }

Result<Library> load() {
  DRIFTSCOPE_TRY(const std::string file, installed_library(variable, in_modules, system_name));
  forbid_telemetry();
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return missing_library(fmt::format("ONNX Runtime: {}", dlerror()));
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr)
    return missing_library(fmt::format("{} is not an ONNX Runtime: it lacks OrtGetApiBase", file));
  const OrtApiBase* const base = get_base();
  const std::string version = base->GetVersionString();
  if (version != peer_info().version)
    return missing_library(fmt::format("{} is ONNX Runtime {}, expected {} as in the browser", file, version,
                                       peer_info().version));
  Library made;
  made.api = base->GetApi(ORT_API_VERSION);
  if (made.api == nullptr)
    return missing_library(fmt::format("{} does not serve version {} of its C API", file, ORT_API_VERSION));
  OrtStatus* const status = made.api->CreateEnvWithCustomLogger(ignore_log, nullptr, ORT_LOGGING_LEVEL_FATAL,
                                                                "driftscope", &made.env);
  if (status == nullptr) return made;
  const std::string message = made.api->GetErrorMessage(status);
  made.api->ReleaseStatus(status);
  return peer::said(peer_info(), ErrorKind::internal, message);
}

}  // namespace

const Result<Library>& library() {
  static const Result<Library> loaded = load();
  return loaded;
}

Status checked(OrtStatus* status, ErrorKind rejected) {
  if (status == nullptr) return {};
  const OrtApi& api = *library()->api;
  const bool lacking = api.GetErrorCode(status) == ORT_NOT_IMPLEMENTED;
  Error error =
      peer::said(peer_info(), lacking ? ErrorKind::unsupported : rejected, api.GetErrorMessage(status));
  api.ReleaseStatus(status);
  return error;
}

}  // namespace driftscope::ort
