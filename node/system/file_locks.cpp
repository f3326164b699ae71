#include "node/system/file_locks.hpp"

#include <errno.h>

#include <map>
#include <mutex>
#include <string>

#include "node/system/open_files.hpp"
#include "node/system/question.hpp"

namespace driftscope::node {
namespace {

/// Of the file, for all processes; empty: there is none.
std::string lock_name(int fd) {
  struct stat status{};
  if (!is_descriptor(fd) || status_of(fd, nullptr, true, &status) < 0) return {};
  return std::to_string(status.st_dev) + "-" + std::to_string(status.st_ino);
}

std::mutex mutex;
/// The descriptor that has each.
std::map<std::string, int>& owners() {
  static auto& all = *new std::map<std::string, int>;
  return all;
}

}  // namespace

int lock_file(int fd, bool of_process) {
  const std::string name = lock_name(fd);
  if (name.empty()) return -EBADF;
  const std::lock_guard lock(mutex);
  if (const auto owner = owners().find(name); owner != owners().end())
    return of_process || owner->second == fd ? 0 : -EAGAIN;
  if (ask({{"do", "lock"}, {"name", name}}) != true) return -EAGAIN;
  owners()[name] = fd;
  open_file(fd).locked = true;
  return 0;
}

void unlock_file(int fd, bool of_process) {
  const std::string name = lock_name(fd);
  const std::lock_guard lock(mutex);
  const auto owner = owners().find(name);
  if (owner == owners().end() || (!of_process && owner->second != fd)) return;
  open_file(owner->second).locked = false;
  owners().erase(owner);
  (void)ask({{"do", "unlock"}, {"name", name}});
}

void release_lock(int fd) {
  if (open_file(fd).locked) unlock_file(fd, false);
}

}  // namespace driftscope::node
