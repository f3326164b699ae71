// The system calls on files, answered by node:fs: without the emulation of Emscripten, whose files belong to
// the main thread. Descriptors are the system's own, which all threads share. Node has no position in a file:
// it is kept here.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "node/system/question.hpp"
#include "node/system/system.hpp"

using driftscope::node::is_socket;

namespace {

constexpr int max_descriptors = 1 << 16;
constexpr double no_position = -1.0;  // a pipe or a terminal

struct OpenFile {
  std::atomic<double> position = no_position;
  std::atomic<bool> appends = false;
  std::atomic<bool> locked = false;
};

OpenFile& open_file(int fd) {
  static auto& files = *new std::array<OpenFile, max_descriptors>;
  return files[static_cast<std::size_t>(fd)];
}

bool is_descriptor(int fd) { return fd >= 0 && fd < max_descriptors; }

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

/// Of the file that is open, for all processes; empty: there is none.
std::string lock_name(int fd) {
  struct stat status{};
  if (!is_descriptor(fd) || status_of(fd, nullptr, true, &status) < 0) return {};
  return std::to_string(status.st_dev) + "-" + std::to_string(status.st_ino);
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

/// One piece, at most what fits an int.
int read_piece(int fd, std::byte* bytes, std::size_t size, double position) {
  return ds_file_read(fd, bytes, std::min<std::size_t>(size, 1 << 30), position);
}

int write_piece(int fd, const std::byte* bytes, std::size_t size, double position) {
  return ds_file_write(fd, bytes, std::min<std::size_t>(size, 1 << 30), position);
}

/// Moves pieces until one is incomplete; `move(bytes, size, position)`.
template <class Pieces, class Move>
int move_pieces(const Pieces* pieces, std::size_t count, double position, std::size_t* moved,
                const Move& move) {
  *moved = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto* bytes = pieces[i].buf;
    std::size_t left = pieces[i].buf_len;
    while (left > 0) {
      const int got = move(bytes, left, position < 0 ? position : position + static_cast<double>(*moved));
      if (got < 0) return *moved > 0 ? 0 : -got;
      if (got == 0) return 0;
      *moved += static_cast<std::size_t>(got);
      bytes += got;
      left -= static_cast<std::size_t>(got);
    }
  }
  return 0;
}

}  // namespace

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
    if (known && S_ISDIR(status.st_mode)) {
      const std::lock_guard lock(folders_mutex);
      open_folders()[fd].path = whole;
    }
    const bool has_position = known && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
    open_file(fd).position = has_position ? 0.0 : no_position;
    open_file(fd).appends = (flags & O_APPEND) != 0;
    return fd;
  });
}

__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd) {
  if (is_socket(static_cast<int>(fd)))
    return static_cast<__wasi_errno_t>(-ds_socket_close(static_cast<int>(fd)));
  if (!is_descriptor(static_cast<int>(fd))) return EBADF;
  if (open_file(static_cast<int>(fd)).locked) flock(static_cast<int>(fd), LOCK_UN);
  {
    const std::lock_guard lock(folders_mutex);
    open_folders().erase(static_cast<int>(fd));
  }
  return static_cast<__wasi_errno_t>(-ds_file_close(static_cast<int>(fd)));
}

__wasi_errno_t __wasi_fd_read(__wasi_fd_t fd, const __wasi_iovec_t* pieces, size_t count,
                              __wasi_size_t* read) {
  const int file = static_cast<int>(fd);
  const auto received = [file](std::uint8_t* bytes, std::size_t size, double) {
    return ds_socket_receive(file, reinterpret_cast<std::byte*>(bytes), size, 0);
  };
  std::size_t moved = 0;
  int failure = 0;
  if (is_socket(file)) {
    failure = move_pieces(pieces, count, no_position, &moved, received);
  } else if (!is_descriptor(file)) {
    failure = EBADF;
  } else {
    std::atomic<double>& position = open_file(file).position;
    failure = move_pieces(pieces, count, position, &moved,
                          [file](std::uint8_t* bytes, std::size_t size, double at) {
                            return read_piece(file, reinterpret_cast<std::byte*>(bytes), size, at);
                          });
    if (position >= 0) position = position + static_cast<double>(moved);
  }
  *read = moved;
  return static_cast<__wasi_errno_t>(failure);
}

__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t* pieces, size_t count,
                               __wasi_size_t* written) {
  const int file = static_cast<int>(fd);
  std::size_t moved = 0;
  int failure = 0;
  if (is_socket(file)) {
    failure = move_pieces(pieces, count, no_position, &moved,
                          [file](const std::uint8_t* bytes, std::size_t size, double) {
                            return ds_socket_send(file, reinterpret_cast<const std::byte*>(bytes), size);
                          });
  } else if (!is_descriptor(file)) {
    failure = EBADF;
  } else {
    OpenFile& open = open_file(file);
    const double begin = open.appends ? no_position : open.position.load();
    failure = move_pieces(pieces, count, begin, &moved,
                          [file](const std::uint8_t* bytes, std::size_t size, double at) {
                            return write_piece(file, reinterpret_cast<const std::byte*>(bytes), size, at);
                          });
    if (begin >= 0) open.position = begin + static_cast<double>(moved);
  }
  *written = moved;
  return static_cast<__wasi_errno_t>(failure);
}

__wasi_errno_t __wasi_fd_pread(__wasi_fd_t fd, const __wasi_iovec_t* pieces, size_t count,
                               __wasi_filesize_t at, __wasi_size_t* read) {
  std::size_t moved = 0;
  const int failure = move_pieces(pieces, count, static_cast<double>(at), &moved,
                                  [fd](std::uint8_t* bytes, std::size_t size, double position) {
                                    return read_piece(static_cast<int>(fd),
                                                      reinterpret_cast<std::byte*>(bytes), size, position);
                                  });
  *read = moved;
  return static_cast<__wasi_errno_t>(failure);
}

__wasi_errno_t __wasi_fd_pwrite(__wasi_fd_t fd, const __wasi_ciovec_t* pieces, size_t count,
                                __wasi_filesize_t at, __wasi_size_t* written) {
  std::size_t moved = 0;
  const int failure = move_pieces(
      pieces, count, static_cast<double>(at), &moved,
      [fd](const std::uint8_t* bytes, std::size_t size, double position) {
        return write_piece(static_cast<int>(fd), reinterpret_cast<const std::byte*>(bytes), size, position);
      });
  *written = moved;
  return static_cast<__wasi_errno_t>(failure);
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t offset, __wasi_whence_t whence,
                              __wasi_filesize_t* place) {
  const int file = static_cast<int>(fd);
  if (is_socket(file)) return ESPIPE;
  if (!is_descriptor(file)) return EBADF;
  std::atomic<double>& position = open_file(file).position;
  if (position < 0) return ESPIPE;
  double base = 0.0;
  if (whence == __WASI_WHENCE_CUR) base = position;
  if (whence == __WASI_WHENCE_END) {
    struct stat status{};
    if (const int failure = status_of(file, nullptr, true, &status); failure < 0)
      return static_cast<__wasi_errno_t>(-failure);
    base = static_cast<double>(status.st_size);
  }
  const double wanted = base + static_cast<double>(offset);
  if (wanted < 0) return EINVAL;
  position = wanted;
  *place = static_cast<__wasi_filesize_t>(wanted);
  return 0;
}

__wasi_errno_t __wasi_fd_fdstat_get(__wasi_fd_t fd, __wasi_fdstat_t* status) {
  *status = {};
  if (is_socket(static_cast<int>(fd))) {
    status->fs_filetype = __WASI_FILETYPE_SOCKET_STREAM;
    return 0;
  }
  // A character device is a terminal to isatty().
  status->fs_filetype = ds_is_terminal(static_cast<int>(fd)) != 0 ? __WASI_FILETYPE_CHARACTER_DEVICE
                                                                  : __WASI_FILETYPE_REGULAR_FILE;
  return 0;
}

__wasi_errno_t __wasi_fd_sync(__wasi_fd_t fd) {
  return static_cast<__wasi_errno_t>(-ds_file_flush(static_cast<int>(fd)));
}

int __syscall_fdatasync(int fd) { return ds_file_flush(fd); }
int __syscall_ftruncate64(int fd, off_t size) { return ds_file_resize(fd, static_cast<double>(size)); }
int __syscall_truncate64(intptr_t path, off_t size) {
  return ds_file_call("truncateSync", text_at(path), nullptr, static_cast<double>(size));
}

int __syscall_stat64(intptr_t path, intptr_t status) {
  return status_of(-1, text_at(path), true, reinterpret_cast<struct stat*>(status));
}
int __syscall_lstat64(intptr_t path, intptr_t status) {
  return status_of(-1, text_at(path), false, reinterpret_cast<struct stat*>(status));
}
int __syscall_fstat64(int fd, intptr_t status) {
  auto* result = reinterpret_cast<struct stat*>(status);
  if (!is_socket(fd)) return status_of(fd, nullptr, true, result);
  *result = {};
  result->st_mode = S_IFSOCK | 0600;
  return 0;
}
int __syscall_newfstatat(int folder, intptr_t path, intptr_t status, int flags) {
  if ((flags & AT_EMPTY_PATH) != 0 && *text_at(path) == '\0') return __syscall_fstat64(folder, status);
  return with_path(folder, text_at(path), [&](const char* whole) {
    return status_of(-1, whole, (flags & AT_SYMLINK_NOFOLLOW) == 0, reinterpret_cast<struct stat*>(status));
  });
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
int __syscall_fchmod(int fd, int mode) { return ds_file_mode(fd, mode); }
int __syscall_fchmodat2(int folder, intptr_t path, int mode, int /*flags*/) {
  return with_path(folder, text_at(path),
                   [&](const char* whole) { return ds_file_call("chmodSync", whole, nullptr, mode); });
}
int __syscall_utimensat(int /*folder*/, intptr_t path, intptr_t times, int /*flags*/) {
  const auto* two = reinterpret_cast<const timespec*>(times);
  const double seconds = two == nullptr || two[1].tv_nsec == UTIME_NOW
                             ? emscripten_get_now() / 1000.0
                             : static_cast<double>(two[1].tv_sec) + static_cast<double>(two[1].tv_nsec) / 1e9;
  return path == 0 ? -ENOSYS : ds_file_call("utimesSync", text_at(path), nullptr, seconds);
}
int __syscall_chdir(intptr_t path) { return ds_file_call("chdir", text_at(path), nullptr, 0); }
int __syscall_getcwd(intptr_t text, size_t size) {
  const int length = ds_current_folder(reinterpret_cast<char*>(text), size);
  return length < 0 ? length : length + 1;
}
void __syscall_sync_all() {}
int __syscall_sync() { return 0; }
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

// Node cannot duplicate a descriptor. What asks for it wants the file again, which has no position of its
// own.
int __syscall_dup(int /*fd*/) { return -ENOSYS; }
int __syscall_dup3(int /*fd*/, int /*wanted*/, int /*flags*/) { return -ENOSYS; }

int __syscall_fcntl64(int fd, int command, ...) {
  switch (command) {
    case F_GETFD: {
      struct stat status{};
      if (is_socket(fd)) return FD_CLOEXEC;
      return status_of(fd, nullptr, true, &status) < 0 ? -EBADF : FD_CLOEXEC;
    }
    case F_SETFD:
    case F_SETFL:
    case F_GETFL:
    // Of SQLite. A history is written by one process at a time (see node_libraries.cmake).
    case F_SETLK:
    case F_SETLKW: return 0;
    case F_GETLK: {
      va_list arguments;
      va_start(arguments, command);
      auto* lock = va_arg(arguments, struct flock*);
      va_end(arguments);
      lock->l_type = F_UNLCK;
      return 0;
    }
    default: return -ENOSYS;
  }
}

int __syscall_ioctl(int fd, int request, ...) {
  if (request != TIOCGWINSZ || ds_is_terminal(fd) == 0) return -ENOTTY;
  va_list arguments;
  va_start(arguments, request);
  auto* size = va_arg(arguments, winsize*);
  va_end(arguments);
  *size = {};
  size->ws_col = static_cast<unsigned short>(ds_terminal_columns());
  return 0;
}

// Of those that may wait nobody asks here: a lock is there or not.
int flock(int fd, int operation) {
  const std::string name = lock_name(fd);
  if (name.empty()) {
    errno = EBADF;
    return -1;
  }
  OpenFile& file = open_file(fd);
  if ((operation & LOCK_UN) != 0) {
    if (file.locked.exchange(false)) (void)driftscope::node::ask({{"do", "unlock"}, {"name", name}});
    return 0;
  }
  if (file.locked || driftscope::node::ask({{"do", "lock"}, {"name", name}}) == true) {
    file.locked = true;
    return 0;
  }
  errno = EWOULDBLOCK;
  return -1;
}

// The system writes to the disk when it likes.
int sync_file_range(int, off_t, off_t, unsigned) { return 0; }

ssize_t getrandom(void* bytes, size_t size, unsigned /*flags*/) {
  return getentropy(bytes, size) == 0 ? static_cast<ssize_t>(size) : -1;
}

// A file is read into memory. A mapping that should see what is written to the file later is refused: those
// who ask for one do without.
int _mmap_js(size_t length, int protection, int flags, int fd, off_t offset, int* allocated, void** address) {
  (void)protection;
  if ((flags & MAP_SHARED) != 0) return -ENODEV;
  void* memory = std::aligned_alloc(65536, (length + 65535) / 65536 * 65536);
  if (memory == nullptr) return -ENOMEM;
  auto* bytes = static_cast<std::byte*>(memory);
  std::size_t filled = 0;
  while (filled < length) {
    const int got = read_piece(fd, bytes + filled, length - filled,
                               static_cast<double>(offset) + static_cast<double>(filled));
    if (got < 0) {
      std::free(memory);
      return got;
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  std::memset(bytes + filled, 0, length - filled);
  *allocated = 1;
  *address = memory;
  return 0;
}
int _munmap_js(intptr_t, size_t, int, int, int, off_t) { return 0; }
int _msync_js(intptr_t, size_t, int, int, int, off_t) { return 0; }

int __syscall_getpid() { return ds_process_id(); }
int __syscall_getuid32() { return ds_user_id(); }
int __syscall_geteuid32() { return ds_user_id(); }
int __syscall_getgid32() { return ds_user_id(); }
int __syscall_getegid32() { return ds_user_id(); }

}  // extern "C"
