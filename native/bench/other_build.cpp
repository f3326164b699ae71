#include "native/bench/other_build.hpp"

#include <unistd.h>

#include <system_error>

#include "native/platform/site.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

Result<OtherBuild> find_other_build(const std::string& path) {
  OtherBuild build;
  build.name = path;
  const fs::path given = path;
  std::error_code error;
  if (fs::is_directory(given, error)) {
    if (is_site(given)) build.site = fs::absolute(given, error);
    for (const char* inside : {"driftscope", "bin/driftscope", "build/native/driftscope"})
      if (build.program.empty() && is_program(given / inside))
        build.program = fs::canonical(given / inside, error);
  } else if (is_program(given)) {
    build.program = fs::canonical(given, error);
  }
  if (build.site.empty() && !build.program.empty())
    for (const fs::path& folder : sites_beside(build.program.parent_path()))
      if (build.site.empty() && is_site(folder)) build.site = folder;
  if (build.program.empty() && build.site.empty())
    return bad_input("--against " + path +
                     ": holds no other build; name its program driftscope, a folder with driftscope, "
                     "bin/driftscope or build/native/driftscope in it, or a built page");
  return build;
}

}  // namespace driftscope
