#include "native/os/unfinished_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "native/os/folders.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished_end = ".driftscope-XXXXXX";

// For mkostemp; what is left of a long name fits with it into the 255 bytes of a name.
std::string unfinished_name(const fs::path& path) {
  constexpr std::size_t max_name = 255;
  const std::string name = path.filename().string().substr(0, max_name - 1 - unfinished_end.size());
  return (folder_of(path) / ("." + name + std::string(unfinished_end))).string();
}

bool is_unfinished_name(std::string_view name) {
  const std::string_view fixed = unfinished_end.substr(0, unfinished_end.size() - 6);
  return name.size() > unfinished_end.size() && name.front() == '.' &&
         name.substr(name.size() - unfinished_end.size()).starts_with(fixed);
}

bool same_file(int fd, const fs::path& path) {
  struct stat open{};
  struct stat named{};
  return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

// Ours, and not locked: its writer was killed.
void remove_if_abandoned(const fs::path& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  if (same_file(file.get(), path)) ::unlink(path.c_str());
}

// umask(2) can only be read by changing it, for all threads.
mode_t file_mask() {
  static const mode_t mask = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("Umask:")) return static_cast<mode_t>(std::strtoul(line.c_str() + 6, nullptr, 8));
    return mode_t{0077};
  }();
  return mask;
}

}  // namespace

// Another program may take the file for an abandoned one before it is locked. Then it has lost its name.
Result<UnfinishedFile> begin_unfinished(const fs::path& path) {
  constexpr int attempts = 10;
  for (int i = 0; i < attempts; ++i) {
    std::string name = unfinished_name(path);
    FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
    if (file.get() < 0) return io_error(system_message());
    const bool busy = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (busy || !same_file(file.get(), name)) continue;
    if (::fchmod(file.get(), 0666 & ~file_mask()) == 0)
      return UnfinishedFile{std::move(name), std::move(file)};
    Error why = io_error(system_message());
    ::unlink(name.c_str());
    return why;
  }
  return io_error("other programs remove its temporary file");
}

FileDescriptor keep_lock(int fd) { return FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

void remove_abandoned_files(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_unfinished_name(entry->path().filename().string())) remove_if_abandoned(entry->path());
}

}  // namespace driftscope
