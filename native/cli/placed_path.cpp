#include "native/cli/placed_path.hpp"

#include "native/platform/site.hpp"

namespace driftscope {

namespace fs = std::filesystem;

Result<fs::path> placed_path(std::string_view path, const fs::path& folder, const fs::path& site) {
  constexpr std::string_view shipped_prefix = "shipped:";
  if (!path.starts_with(shipped_prefix)) return folder / fs::path(path);
  DRIFTSCOPE_TRY(const fs::path found, find_site(site));
  return found / "assets" / fs::path(path.substr(shipped_prefix.size()));
}

}  // namespace driftscope
