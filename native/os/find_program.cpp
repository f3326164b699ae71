#include "native/os/find_program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <system_error>

#include "native/platform/one_job_machine.hpp"

namespace driftscope {

namespace fs = std::filesystem;

namespace {

bool may_everybody_write(const fs::path& path, bool unless_sticky) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & S_IWOTH) == 0) return false;
  return !(unless_sticky && S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0);
}

// Whether everybody may replace the program or a folder that leads to it, by name or through links. To a
// sticky folder others can add a program, but not replace one.
bool may_be_replaced(const fs::path& program) {
  if (is_machine_of_one_job()) return false;
  if (may_everybody_write(program.parent_path(), false)) return true;
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error) return true;
  for (const fs::path& path : {program, real})
    for (fs::path part = path; part.has_relative_path(); part = part.parent_path())
      if (may_everybody_write(part, true)) return true;
  return false;
}

struct Found {
  fs::path program;
  fs::path passed_over;  // the first that everybody may replace
};

Found look_for(const std::string& name, const std::function<bool(const fs::path&)>& is_meant) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable ? variable : "/usr/local/bin:/usr/bin:/bin");
  Found found;
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with('/')) continue;  // the current folder may belong to anybody
    const fs::path file = fs::path(folder) / name;
    std::error_code error;
    if (access(file.c_str(), X_OK) != 0 || !fs::is_regular_file(file, error)) continue;
    if (is_meant && !is_meant(file)) continue;
    if (!may_be_replaced(file)) {
      found.program = file;
      return found;
    }
    if (found.passed_over.empty()) found.passed_over = file;
  }
  return found;
}

}  // namespace

fs::path find_program(const std::string& name, const std::function<bool(const fs::path&)>& is_meant) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? fs::path(name) : fs::path();
  return look_for(name, is_meant).program;
}

std::string why_passed_over(const std::string& name) {
  if (name.find('/') != std::string::npos) return {};
  const Found found = look_for(name, {});
  if (found.passed_over.empty()) return {};
  return "'" + found.passed_over.string() +
         "' is not started, as everybody may replace it or write to a folder that leads to it";
}

}  // namespace driftscope
