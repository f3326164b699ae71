#include "native/peers/ort/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "core/engines/ort/ort.hpp"
#include "native/platform/cache_folder.hpp"
#include "native/platform/installed_library.hpp"

namespace driftscope::ort {
namespace {

namespace fs = std::filesystem;

// Of the C API: with it came the last of the calls that backend.cpp makes (ONNX Runtime 1.18).
constexpr std::uint32_t oldest_api = 18;
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

/// Release 1.N has the versions of the C API up to N: older ones have the beginning of the same table. They
/// print a message when they are asked for more.
std::uint32_t api_of(const std::string& version) {
  std::uint32_t minor = ORT_API_VERSION;
  const auto dot = version.find('.');
  if (dot != std::string::npos)
    std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return std::clamp<std::uint32_t>(minor, oldest_api, ORT_API_VERSION);
}

/// Loads this file, which must be of this version.
Result<Library> load_file(const std::string& file, const std::string& version) {
  forbid_telemetry();
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return missing_library(fmt::format("ONNX Runtime: {}", dlerror()));
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr)
    return missing_library(fmt::format("{} is not an ONNX Runtime: it lacks OrtGetApiBase", file));
  const OrtApiBase* const base = get_base();
  const std::string found = base->GetVersionString();
  if (found != version)
    return missing_library(fmt::format("{} is ONNX Runtime {}, expected {}", file, found, version));
  Library made;
  made.api = base->GetApi(api_of(version));
  if (made.api == nullptr)
    return missing_library(fmt::format("{} does not serve version {} of its C API", file, api_of(version)));
  OrtStatus* const status = made.api->CreateEnvWithCustomLogger(ignore_log, nullptr, ORT_LOGGING_LEVEL_FATAL,
                                                                "driftscope", &made.env);
  if (status == nullptr) return made;
  const std::string message = made.api->GetErrorMessage(status);
  made.api->ReleaseStatus(status);
  return peer::said(peer_info(), ErrorKind::internal, message);
}

Result<Library> load_pinned() {
  DRIFTSCOPE_TRY(const std::string file, installed_library(variable, in_modules, system_name));
  return load_file(file, peer_info().version);
}

/// The library in a fetched package: its name has the version in some releases, and its folder another
/// version of Node's interface.
Result<Library> load_release(const std::string& release) {
  const fs::path folder = package_folder(peer_info().releases.native.front().name, release);
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    if (entry->is_regular_file() && entry->path().filename().string().starts_with("libonnxruntime.so"))
      return load_file(entry->path().string(), release);
  return missing_error(fmt::format("ONNX Runtime {} is not in {}", release, folder.string()));
}

}  // namespace

LoadedLibrary library(const std::string& release) {
  static std::mutex mutex;
  static std::map<std::string, Result<Library>> all;
  const std::lock_guard lock(mutex);
  auto found = all.find(release);
  if (found == all.end())
    found = all.emplace(release, release.empty() ? load_pinned() : load_release(release)).first;
  if (!found->second.ok()) return found->second.error();
  return &*found->second;
}

Status checked(const OrtApi& api, OrtStatus* status, ErrorKind rejected) {
  if (status == nullptr) return {};
  const bool lacking = api.GetErrorCode(status) == ORT_NOT_IMPLEMENTED;
  Error error =
      peer::said(peer_info(), lacking ? ErrorKind::unsupported : rejected, api.GetErrorMessage(status));
  api.ReleaseStatus(status);
  return error;
}

}  // namespace driftscope::ort
