#include "native/os/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace driftscope {

const std::string_view locked_folder_prefix = "driftscope-";

int lock_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

}  // namespace driftscope
