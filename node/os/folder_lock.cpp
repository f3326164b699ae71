// Node has no locks: the number of the process in a folder's name says whose it is. Since numbers mean
// nothing where containers share a folder, it must be a day old as well.
#include "native/os/folder_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "node/system/question.hpp"

namespace driftscope {
namespace {

constexpr std::time_t a_day = 24 * 3600;

bool may_be_kept(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(locked_folder_prefix)) return false;  // just made
  const auto pid = static_cast<pid_t>(std::strtol(name.c_str() + locked_folder_prefix.size(), nullptr, 10));
  if (pid == ::getpid()) return true;
  struct stat info{};
  return ::lstat(folder.c_str(), &info) != 0 || std::time(nullptr) - info.st_mtime < a_day ||
         node::ask({{"do", "alive"}, {"pid", pid}}) != false;
}

}  // namespace

const std::string_view locked_folder_prefix = "driftscope-node-";

int lock_folder(const std::filesystem::path& folder) {
  if (may_be_kept(folder)) return -1;
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

}  // namespace driftscope
