#include "native/platform/cache_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace driftscope {

namespace fs = std::filesystem;

fs::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "driftscope";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? fs::path(home) / ".cache" / "driftscope" : fs::path();
}

fs::path package_cache() {
  const fs::path cache = cache_folder();
  return cache.empty() ? fs::path() : cache / "packages";
}

fs::path package_folder(std::string_view name, std::string_view version) {
  std::string file(name);
  std::ranges::replace(file, '/', '+');
  const fs::path cache = package_cache();
  return cache.empty() ? fs::path() : cache / (file + "@" + std::string(version));
}

}  // namespace driftscope
