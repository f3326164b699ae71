#include "native/platform/installed_library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "native/platform/trusted_path.hpp"

namespace driftscope {
namespace fs = std::filesystem;

Result<std::string> installed_library(const char* variable, std::string_view in_modules,
                                      const char* system_name) {
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0')
    return std::string(given);
  std::error_code error;
  const fs::path program = fs::canonical("/proc/self/exe", error).parent_path();
  if (error) return std::string(system_name);
  std::vector<fs::path> places = {program.parent_path() / "lib" / "driftscope" /
                                  fs::path(in_modules).filename()};
  // A program that was moved elsewhere does not look where another user may have put another clone.
  const fs::path clone = fs::weakly_canonical(DRIFTSCOPE_CLONE, error);
  if (!error && is_below(program, clone)) places.push_back(clone / in_modules);
  for (const fs::path& place : places) {
    if (!fs::exists(place, error)) continue;
    if (const std::string why = why_untrusted(place); !why.empty())
      return missing_error(
          fmt::format("'{}' is not loaded, as somebody else could have replaced it: {}; "
                      "fix that, or name the file with {}",
                      place.string(), why, variable));
    return place.string();
  }
  return std::string(system_name);
}

}  // namespace driftscope
