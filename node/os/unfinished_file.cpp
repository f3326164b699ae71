// Node has no locks of files. An unfinished file has another name here than natively, where one without a
// lock is removed, and counts as abandoned when nobody has written to it for a day.
#include "native/os/unfinished_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>

#include "native/os/folders.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished_end = ".driftscope-node-XXXXXX";
constexpr std::time_t a_day = 24 * 3600;

bool is_unfinished_name(std::string_view name) {
  const std::string_view fixed = unfinished_end.substr(0, unfinished_end.size() - 6);
  return name.size() > unfinished_end.size() && name.front() == '.' &&
         name.substr(name.size() - unfinished_end.size()).starts_with(fixed);
}

}  // namespace

Result<UnfinishedFile> begin_unfinished(const fs::path& path) {
  constexpr std::size_t max_name = 255;
  const std::string name = path.filename().string().substr(0, max_name - 1 - unfinished_end.size());
  std::string beside = (folder_of(path) / ("." + name + std::string(unfinished_end))).string();
  FileDescriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  if (file.get() < 0) return io_error(system_message());
  if (::fchmod(file.get(), 0666 & ~::umask(0)) != 0) {
    Error why = io_error(system_message());
    ::unlink(beside.c_str());
    return why;
  }
  return UnfinishedFile{std::move(beside), std::move(file)};
}

FileDescriptor keep_lock(int /*fd*/) { return FileDescriptor(); }

void remove_abandoned_files(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_unfinished_name(entry->path().filename().string())) continue;
    struct stat info{};
    if (::lstat(entry->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid())
      continue;
    if (std::time(nullptr) - info.st_mtime > a_day) ::unlink(entry->path().c_str());
  }
}

}  // namespace driftscope
