// The system calls on open files, answered by node:fs: without the emulation of Emscripten, whose files
// belong to the main thread. Those by path are in paths.cpp.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/api.h>

#include <algorithm>
#include <array>

#include "node/system/file_locks.hpp"
#include "node/system/open_files.hpp"
#include "node/system/system.hpp"

namespace node = driftscope::node;
using node::is_descriptor;
using node::is_socket;
using node::no_position;
using node::open_file;
using node::OpenFile;
using node::status_of;

namespace driftscope::node {
namespace {

constexpr int max_descriptors = 1 << 16;

}  // namespace

bool is_descriptor(int fd) { return fd >= 0 && fd < max_descriptors; }

OpenFile& open_file(int fd) {
  static auto& files = *new std::array<OpenFile, max_descriptors>;
  return files[static_cast<std::size_t>(fd)];
}

}  // namespace driftscope::node

namespace {

/// One piece, at most what fits an int.
int read_piece(int fd, std::byte* bytes, std::size_t size, double position) {
  return ds_file_read(fd, bytes, std::min<std::size_t>(size, 1 << 30), position);
}

int write_piece(int fd, const std::byte* bytes, std::size_t size, double position) {
  return ds_file_write(fd, bytes, std::min<std::size_t>(size, 1 << 30), position);
}

/// Moves pieces until one is incomplete: more may come later, and a reader shall have what is there;
/// `move(bytes, size, position)`.
template <class Pieces, class Move>
int move_pieces(const Pieces* pieces, std::size_t count, double position, std::size_t* moved,
                const Move& move) {
  *moved = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (pieces[i].buf_len == 0) continue;
    const double place = position < 0 ? position : position + static_cast<double>(*moved);
    const int got = move(pieces[i].buf, pieces[i].buf_len, place);
    if (got < 0) return *moved > 0 ? 0 : -got;
    *moved += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < pieces[i].buf_len) break;
  }
  return 0;
}

}  // namespace

extern "C" {

__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd) {
  const int file = static_cast<int>(fd);
  if (is_socket(file)) return static_cast<__wasi_errno_t>(-ds_socket_close(file));
  if (!is_descriptor(file)) return EBADF;
  node::release_lock(file);
  node::forget_folder(file);
  return static_cast<__wasi_errno_t>(-ds_file_close(file));
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
int __syscall_fchmod(int fd, int mode) { return ds_file_mode(fd, mode); }

int __syscall_fstat64(int fd, intptr_t status) {
  return node::status_of_open(fd, reinterpret_cast<struct stat*>(status));
}

// Node cannot duplicate a descriptor.
int __syscall_dup(int /*fd*/) { return -ENOSYS; }
int __syscall_dup3(int /*fd*/, int /*wanted*/, int /*flags*/) { return -ENOSYS; }

int __syscall_fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  struct flock* const lock = command == F_SETLK || command == F_SETLKW || command == F_GETLK
                                 ? va_arg(arguments, struct flock*)
                                 : nullptr;
  va_end(arguments);
  switch (command) {
    case F_GETFD: {
      struct stat status{};
      return node::status_of_open(fd, &status) < 0 ? -EBADF : FD_CLOEXEC;
    }
    case F_SETFD:
    case F_SETFL:
    case F_GETFL: return 0;
    // Any part of a file is locked as the whole file, to write, until the whole is unlocked: SQLite unlocks
    // parts of it while it still reads others.
    case F_SETLK:
    case F_SETLKW:
      if (lock->l_type != F_UNLCK) return node::lock_file(fd, true);
      if (lock->l_start == 0 && lock->l_len == 0) node::unlock_file(fd, true);
      return 0;
    case F_GETLK: lock->l_type = F_UNLCK; return 0;  // who asks has the lock already
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
  if ((operation & LOCK_UN) != 0) {
    node::unlock_file(fd, false);
    return 0;
  }
  const int result = node::lock_file(fd, false);
  if (result == 0) return 0;
  errno = result == -EAGAIN ? EWOULDBLOCK : -result;
  return -1;
}

}  // extern "C"
