// The system calls on paths and folders, answered by node:fs on the calling thread.
#include <dirent.h>
#include <emscripten.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "node/system/open_files.hpp"
#include "node/system/system.hpp"

namespace node = driftscope::node;
using node::is_descriptor;
using node::no_position;
using node::open_file;
using node::status_of;

namespace {

const char* text_at(intptr_t address) { return reinterpret_cast<const char*>(address); }

// Folders that are open: their paths, since Node lists folders by name, and what is yet to be read.
struct OpenFolder {
  std::string path = {};
  std::string names;  // as ds_file_names gives them
  std::size_t read = 0;
  bool listed = false;
};
std::mutex folders_mutex;
std::map<int, OpenFolder>& open_folders() {
  static auto& folders = *new std::map<int, OpenFolder>;
  return folders;
}

timespec time_of(double milliseconds) {
  const double seconds = std::floor(milliseconds / 1000.0);
  return {static_cast<time_t>(seconds), static_cast<long>((milliseconds - seconds * 1000.0) * 1e6)};
}

// Paths are relative to the current folder: a descriptor of a folder is one of ours.
int with_path(int folder, const char* path, const auto& call) {
  if (folder == AT_FDCWD || path[0] == '/') return call(path);
  std::string whole;
  {
    const std::lock_guard lock(folders_mutex);
    const auto found = open_folders().find(folder);
    if (found == open_folders().end()) return -EBADF;
    whole = found->second.path + "/" + path;
  }
  return call(whole.c_str());
}

}  // namespace

namespace driftscope::node {

int status_of(int fd, const char* path, bool follow, struct stat* status) {
  std::array<double, 13> values{};
  if (const int result = ds_file_status(fd, path, follow ? 1 : 0, values.data()); result < 0) return result;
  *status = {};
  status->st_dev = static_cast<dev_t>(values[0]);
  status->st_ino = static_cast<ino_t>(values[1]);
  status->st_mode = static_cast<mode_t>(values[2]);
  status->st_nlink = static_cast<nlink_t>(values[3]);
  status->st_uid = static_cast<uid_t>(values[4]);
  status->st_gid = static_cast<gid_t>(values[5]);
  status->st_rdev = static_cast<dev_t>(values[6]);
  status->st_size = static_cast<off_t>(values[7]);
  status->st_blksize = static_cast<blksize_t>(values[8]);
  status->st_blocks = static_cast<blkcnt_t>(values[9]);
  status->st_atim = time_of(values[10]);
  status->st_mtim = time_of(values[11]);
  status->st_ctim = time_of(values[12]);
  return 0;
}

int status_of_open(int fd, struct stat* status) {
  if (!is_socket(fd)) return status_of(fd, nullptr, true, status);
  *status = {};
  status->st_mode = S_IFSOCK | 0600;
  return 0;
}

void remember_folder(int fd, const char* path) {
  const std::lock_guard lock(folders_mutex);
  open_folders()[fd].path = path;
}

void forget_folder(int fd) {
  const std::lock_guard lock(folders_mutex);
  open_folders().erase(fd);
}

}  // namespace driftscope::node

extern "C" {

int __syscall_openat(int folder, intptr_t path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return with_path(folder, text_at(path), [&](const char* whole) {
    const int fd = ds_file_open(whole, flags, mode);
    if (fd < 0) return fd;
    if (!is_descriptor(fd)) {
      ds_file_close(fd);
      return -EMFILE;
    }
    struct stat status{};
    const bool known = status_of(fd, nullptr, true, &status) == 0;
    if (known && S_ISDIR(status.st_mode)) node::remember_folder(fd, whole);
    const bool has_position = known && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
    open_file(fd).position = has_position ? 0.0 : no_position;
    open_file(fd).appends = (flags & O_APPEND) != 0;
    return fd;
  });
}

int __syscall_stat64(intptr_t path, intptr_t status) {
  return status_of(-1, text_at(path), true, reinterpret_cast<struct stat*>(status));
}
int __syscall_lstat64(intptr_t path, intptr_t status) {
  return status_of(-1, text_at(path), false, reinterpret_cast<struct stat*>(status));
}
int __syscall_newfstatat(int folder, intptr_t path, intptr_t status, int flags) {
  if ((flags & AT_EMPTY_PATH) != 0 && *text_at(path) == '\0')
    return node::status_of_open(folder, reinterpret_cast<struct stat*>(status));
  return with_path(folder, text_at(path), [&](const char* whole) {
    return status_of(-1, whole, (flags & AT_SYMLINK_NOFOLLOW) == 0, reinterpret_cast<struct stat*>(status));
  });
}

int __syscall_truncate64(intptr_t path, off_t size) {
  return ds_file_call("truncateSync", text_at(path), nullptr, static_cast<double>(size));
}

int __syscall_faccessat(int folder, intptr_t path, int how, int /*flags*/) {
  return with_path(folder, text_at(path),
                   [&](const char* whole) { return ds_file_call("accessSync", whole, nullptr, how); });
}
int __syscall_mkdirat(int folder, intptr_t path, int mode) {
  return with_path(folder, text_at(path),
                   [&](const char* whole) { return ds_file_call("mkdirSync", whole, nullptr, mode); });
}
int __syscall_rmdir(intptr_t path) { return ds_file_call("rmdirSync", text_at(path), nullptr, 0); }
int __syscall_unlinkat(int folder, intptr_t path, int flags) {
  const char* const function = (flags & AT_REMOVEDIR) != 0 ? "rmdirSync" : "unlinkSync";
  return with_path(folder, text_at(path),
                   [&](const char* whole) { return ds_file_call(function, whole, nullptr, 0); });
}
int __syscall_renameat(int /*from_folder*/, intptr_t from, int /*to_folder*/, intptr_t to) {
  return ds_file_call("renameSync", text_at(from), text_at(to), 0);
}
int __syscall_linkat(int /*from_folder*/, intptr_t from, int /*to_folder*/, intptr_t to, int /*flags*/) {
  return ds_file_call("linkSync", text_at(from), text_at(to), 0);
}
int __syscall_symlinkat(intptr_t target, int /*folder*/, intptr_t link) {
  return ds_file_call("symlinkSync", text_at(target), text_at(link), 0);
}
int __syscall_symlink(intptr_t target, intptr_t link) {
  return ds_file_call("symlinkSync", text_at(target), text_at(link), 0);
}
int __syscall_readlinkat(int folder, intptr_t path, intptr_t text, size_t size) {
  return with_path(folder, text_at(path), [&](const char* whole) {
    return ds_read_link(whole, reinterpret_cast<char*>(text), size);
  });
}
int __syscall_chmod(intptr_t path, int mode) {
  return ds_file_call("chmodSync", text_at(path), nullptr, mode);
}
int __syscall_fchmodat2(int folder, intptr_t path, int mode, int /*flags*/) {
  return with_path(folder, text_at(path),
                   [&](const char* whole) { return ds_file_call("chmodSync", whole, nullptr, mode); });
}
int __syscall_utimensat(int /*folder*/, intptr_t path, intptr_t times, int /*flags*/) {
  const auto* two = reinterpret_cast<const timespec*>(times);
  const double seconds = two == nullptr || two[1].tv_nsec == UTIME_NOW
                             ? emscripten_date_now() / 1000.0
                             : static_cast<double>(two[1].tv_sec) + static_cast<double>(two[1].tv_nsec) / 1e9;
  return path == 0 ? -ENOSYS : ds_file_call("utimesSync", text_at(path), nullptr, seconds);
}
int __syscall_chdir(intptr_t path) { return ds_file_call("chdir", text_at(path), nullptr, 0); }
int __syscall_getcwd(intptr_t text, size_t size) {
  const int length = ds_current_folder(reinterpret_cast<char*>(text), size);
  return length < 0 ? length : length + 1;
}
int __syscall_umask(int /*mask*/) { return ds_file_mask(); }

int __syscall_getdents64(int fd, intptr_t target, size_t size) {
  const std::lock_guard lock(folders_mutex);
  const auto found = open_folders().find(fd);
  if (found == open_folders().end()) return -ENOTDIR;
  OpenFolder& folder = found->second;
  if (!folder.listed) {
    char* names = nullptr;
    std::size_t bytes = 0;
    if (const int failure = ds_file_names(folder.path.c_str(), &names, &bytes); failure < 0) return failure;
    folder.names.assign(names, bytes);
    std::free(names);
    folder.listed = true;
  }
  auto* out = reinterpret_cast<char*>(target);
  std::size_t used = 0;
  while (folder.read < folder.names.size()) {
    const char type = folder.names[folder.read];
    const char* const name = folder.names.data() + folder.read + 1;
    const std::size_t length = std::strlen(name);
    const std::size_t record = (offsetof(dirent, d_name) + length + 1 + 7) / 8 * 8;
    if (used + record > size) return used > 0 ? static_cast<int>(used) : -EINVAL;
    auto* entry = reinterpret_cast<dirent*>(out + used);
    std::memset(entry, 0, record);
    entry->d_ino = 1;  // of no use to anybody; 0 would be an entry that is gone
    folder.read += 1 + length + 1;
    entry->d_off = static_cast<off_t>(folder.read);
    entry->d_reclen = static_cast<unsigned short>(record);
    entry->d_type = static_cast<unsigned char>(type);
    std::memcpy(entry->d_name, name, length + 1);
    used += record;
  }
  return static_cast<int>(used);
}

}  // extern "C"
