#include "native/platform/site.hpp"

#include <cstdlib>
#include <system_error>

#include "native/platform/trusted_path.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

Result<fs::path> checked_site(const fs::path& folder, const std::string& source) {
  if (is_site(folder)) return folder;
  return missing_error("the site folder '" + folder.string() + "' (" + source +
                       ") holds no built page (index.html and engine/); build it with "
                       "'cmake --build --preset web'");
}

}  // namespace

bool is_site(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "index.html", error) && fs::is_directory(folder / "engine", error);
}

std::vector<fs::path> sites_beside(const fs::path& folder) {
  return {folder.string() + "-web/site",  // of build/demo: build/demo-web
          folder.parent_path() / "web" / "site", folder.parent_path() / "share" / "driftscope" / "site"};
}

Result<fs::path> find_site(const fs::path& given) {
  if (!given.empty()) return checked_site(given, "--site");
  if (const char* variable = std::getenv("DRIFTSCOPE_SITE"); variable && *variable)
    return checked_site(variable, "DRIFTSCOPE_SITE");
  std::error_code error;
  const fs::path here = fs::canonical("/proc/self/exe", error).parent_path();
  if (error)
    return missing_error(
        "the page for browsers is not found, as /proc is missing; name it with --site or "
        "DRIFTSCOPE_SITE");
  const std::vector<fs::path> folders = sites_beside(here);
  for (const fs::path& folder : folders) {
    if (!is_site(folder)) continue;
    if (const std::string why = why_untrusted_tree(folder); !why.empty())
      return missing_error("the page for browsers in '" + folder.string() +
                           "' is not used, as somebody else could have replaced it: " + why +
                           "; fix that, or name it with --site or DRIFTSCOPE_SITE");
    return folder;
  }
  return missing_error(
      "the page for browsers is not built: looked in '" + folders[1].string() + "' and '" +
      folders[2].string() +
      "'; install the whole package, build it with 'cmake --build --preset web', or name it with --site or "
      "DRIFTSCOPE_SITE");
}

}  // namespace driftscope
