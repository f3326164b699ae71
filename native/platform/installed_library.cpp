#include "native/platform/installed_library.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace driftscope {

std::string installed_library(const char* variable, std::string_view in_modules, const char* system_name) {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0') return given;
  std::error_code error;
  fs::path folder = fs::canonical("/proc/self/exe", error).parent_path();
  const fs::path installed = folder.parent_path() / "lib" / "driftscope" / fs::path(in_modules).filename();
  if (fs::exists(installed, error)) return installed;
  while (!folder.empty()) {
    if (fs::exists(folder / in_modules, error)) return folder / in_modules;
    if (folder == folder.root_path()) break;
    folder = folder.parent_path();
  }
  const fs::path built_from = fs::path(DRIFTSCOPE_CLONE) / in_modules;
  return fs::exists(built_from, error) ? built_from.string() : system_name;
}

}  // namespace driftscope
