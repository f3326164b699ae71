#include "native/platform/site.hpp"

#include <cstdlib>
#include <system_error>

#include "native/platform/trusted_path.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

bool is_site(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "index.html", error) && fs::is_directory(folder / "engine", error);
}

Result<fs::path> checked_site(const fs::path& folder, const std::string& source) {
  if (is_site(folder)) return folder;
  return missing_error("the site folder '" + folder.string() + "' (" + source +
                       ") holds no built page (index.html and engine/); build it with "
                       "'cmake --build --preset web'");
}

}  // namespace

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
  const fs::path beside_build = here.parent_path() / "web" / "site";
  const fs::path of_preset = here.string() + "-web/site";  // of build/demo: build/demo-web
  const fs::path installed = here.parent_path() / "share" / "driftscope" / "site";
  for (const fs::path& folder : {of_preset, beside_build, installed}) {
    if (!is_site(folder)) continue;
    if (const std::string why = why_untrusted_tree(folder); !why.empty())
      return missing_error("the page for browsers in '" + folder.string() +
                           "' is not used, as somebody else could have replaced it: " + why +
                           "; fix that, or name it with --site or DRIFTSCOPE_SITE");
    return folder;
  }
  return missing_error(
      "the page for browsers is not built: looked in '" + beside_build.string() + "' and '" +
      installed.string() +
      "'; install the whole package, build it with 'cmake --build --preset web', or name it with --site or "
      "DRIFTSCOPE_SITE");
}

}  // namespace driftscope
