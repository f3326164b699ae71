// A disk that fails, loaded before a program (LD_PRELOAD): the calls by which it writes to one folder. The
// Nth of them fails, or the program is killed there; or it goes on, and what a loss of power would have left
// is kept before each call. Client: failing_disk.mjs. From the environment:
//   FAILING_DISK_FOLDER   the folder, canonical
//   FAILING_DISK_REPORT   a file that gets lines: the call that met the fault, "steps N", "unseen FILE"
//   FAILING_DISK_HOW      fail: one call fails; full: from then on the disk is full; kill: SIGKILL, half of a
//                         write done; states: nothing fails
//   FAILING_DISK_AT       N, from 1
//   FAILING_DISK_STATES   the folder for what a loss of power would have left
// Other processes that the program starts are not followed.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <fstream>
#include <mutex>

#include "disk.hpp"

namespace {

namespace fs = std::filesystem;
using disk::Disk;
using disk::File;

struct Opened {
  std::shared_ptr<File> file;  // null: a folder
  std::string name;
};

// Calls come before this library's variables are initialised, and until the very end: made by `begin`, never
// destroyed.
struct State {
  std::string how;
  std::string report;
  long fault_at = 0;
  long steps = 0;
  std::map<int, Opened> opened;
  Disk* disk = nullptr;
};
State* state = nullptr;
std::recursive_mutex mutex;  // also: what follows is called by what it calls

template <class Function>
Function* real(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string variable(const char* name) {
  const char* value = getenv(name);
  const std::string text = value ? value : "";
  unsetenv(name);
  return text;
}

__attribute__((constructor)) void begin() {
  const std::string folder = variable("FAILING_DISK_FOLDER");
  const std::string states = variable("FAILING_DISK_STATES");
  auto* const made = new State;
  made->how = variable("FAILING_DISK_HOW");
  made->report = variable("FAILING_DISK_REPORT");
  made->fault_at = atol(variable("FAILING_DISK_AT").c_str());
  unsetenv("LD_PRELOAD");
  if (folder.empty()) return;
  made->disk = new Disk(folder, made->how == "states" ? states : "");
  state = made;
}

void append_to_report(const std::string& line) {
  std::ofstream(state->report, std::ios::app) << line << "\n";
}

__attribute__((destructor)) void end() {
  const std::lock_guard lock(mutex);
  if (!state) return;
  state->disk->keep_states("at the end");
  if (state->how == "states") append_to_report("steps " + std::to_string(state->steps));
  if (const std::string name = state->disk->unseen(); !name.empty()) append_to_report("unseen " + name);
}

enum class Fault { none, fails, half };

/// Before every call that changes what is on the disk. `adds`: it needs space.
Fault step(const std::string& call, const std::string& name, bool adds) {
  const std::string moment = std::to_string(++state->steps) + " " + call + " " + name;
  if (state->how == "states") state->disk->keep_states("before " + moment);
  const bool here = state->steps == state->fault_at;
  const bool still_full =
      state->how == "full" && state->fault_at > 0 && state->steps > state->fault_at && adds;
  if (!here && !still_full) return Fault::none;
  if (here) append_to_report(moment);
  if (state->how == "kill" && call != "write") kill(getpid(), SIGKILL);
  errno = adds ? ENOSPC : EIO;
  return call == "write" && here && state->how != "fail" ? Fault::half : Fault::fails;
}

const Opened* find(int fd) {
  if (!state) return nullptr;
  const auto found = state->opened.find(fd);
  return found == state->opened.end() ? nullptr : &found->second;
}

std::optional<std::string> inside(const char* path) {
  return state ? state->disk->inside(path) : std::nullopt;
}

std::string content_of(int fd) { return disk::content_of("/proc/self/fd/" + std::to_string(fd)); }

template <class Open>
int open_file(const fs::path& path, int flags, const Open& really) {
  const std::lock_guard lock(mutex);
  const auto name = inside(path.c_str());
  if (!name || (flags & O_PATH) != 0) return really();
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  const bool exists = name->empty() || state->disk->has(*name);
  const bool changes = exists ? writes && (flags & O_TRUNC) != 0 : (flags & O_CREAT) != 0;
  if (changes && step(exists ? "truncate" : "create", *name, !exists) != Fault::none) return -1;
  const int fd = really();
  if (fd < 0) return fd;
  struct stat info{};
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    state->opened[fd] = {nullptr, *name};
  } else if (writes) {
    state->opened[fd] = {exists ? state->disk->file(*name) : state->disk->created(*name), *name};
    if (changes) state->disk->written(*state->opened[fd].file, content_of(fd));
  }
  return fd;
}

template <class Make>
int make_temporary(char* pattern, const Make& really) {
  const std::lock_guard lock(mutex);
  const auto name = inside(pattern);
  if (!name) return really();
  if (step("create", *name, true) != Fault::none) return -1;
  const int fd = really();
  if (fd >= 0) state->opened[fd] = {state->disk->created(*inside(pattern)), *inside(pattern)};
  return fd;
}

template <class Write>
ssize_t write_part(int fd, std::size_t count, const Write& really) {
  const std::lock_guard lock(mutex);
  const Opened* to = find(fd);
  if (!to || !to->file) return really(0, count);
  const Fault fault = step("write", to->name, true);
  if (fault == Fault::fails) return -1;
  const std::size_t half = count / 2;
  ssize_t done = half > 0 ? really(0, half) : 0;
  if (done < 0) return done;
  state->disk->written(*to->file, content_of(fd));
  if (fault == Fault::half && state->how == "kill") kill(getpid(), SIGKILL);
  if (fault == Fault::half && done > 0) return done;
  if (state->how == "states")
    state->disk->keep_states("amid " + std::to_string(state->steps) + " write " + to->name);
  const ssize_t rest = really(half, count - half);
  if (rest < 0) return rest;
  state->disk->written(*to->file, content_of(fd));
  return done + rest;
}

template <class Truncate>
int truncate_file(int fd, const Truncate& really) {
  const std::lock_guard lock(mutex);
  const Opened* to = find(fd);
  if (!to || !to->file) return really();
  if (step("truncate", to->name, false) != Fault::none) return -1;
  const int code = really();
  if (code == 0) state->disk->written(*to->file, content_of(fd));
  return code;
}

template <class Flush>
int flush(int fd, const Flush& really) {
  const std::lock_guard lock(mutex);
  const Opened* to = find(fd);
  if (!to) return really();
  if (step(to->file ? "flush" : "flush the folder", to->name, false) != Fault::none) return -1;
  if (to->file)
    state->disk->flushed(*to->file);
  else
    state->disk->flushed_folder(to->name);
  return 0;  // the disk under the tests need not be waited for
}

int remove_name(const char* path, bool folder) {
  const std::lock_guard lock(mutex);
  static auto* const unlinked = real("unlink", &::unlink);
  static auto* const removed = real("rmdir", &::rmdir);
  const auto name = inside(path);
  const auto really = [&] { return folder ? removed(path) : unlinked(path); };
  if (!name || !state->disk->has(*name)) return really();
  if (step("remove", *name, false) != Fault::none) return -1;
  const int code = really();
  if (code == 0) state->disk->removed(*name);
  return code;
}

fs::path beside(int folder, const char* path) {
  if (folder == AT_FDCWD || *path == '/') return path;
  return fs::read_symlink("/proc/self/fd/" + std::to_string(folder)) / path;
}

mode_t mode_in(int flags, va_list& more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(more, int)) : 0;
}

}  // namespace

extern "C" {

#define OPEN(NAME)                                                                \
  int NAME(const char* path, int flags, ...) {                                    \
    va_list more;                                                                 \
    va_start(more, flags);                                                        \
    const mode_t mode = mode_in(flags, more);                                     \
    va_end(more);                                                                 \
    static auto* const really = real<int(const char*, int, ...)>(#NAME, nullptr); \
    return open_file(path, flags, [&] { return really(path, flags, mode); });     \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(NAME)                                                                                  \
  int NAME(int folder, const char* path, int flags, ...) {                                            \
    va_list more;                                                                                     \
    va_start(more, flags);                                                                            \
    const mode_t mode = mode_in(flags, more);                                                         \
    va_end(more);                                                                                     \
    static auto* const really = real<int(int, const char*, int, ...)>(#NAME, nullptr);                \
    return open_file(beside(folder, path), flags, [&] { return really(folder, path, flags, mode); }); \
  }
OPENAT(openat)
OPENAT(openat64)

// What the compiler calls where it checks (_FORTIFY_SOURCE).
int __open_2(const char* path, int flags) { return open(path, flags); }
int __open64_2(const char* path, int flags) { return open64(path, flags); }

int mkostemp(char* pattern, int flags) {
  static auto* const really = real("mkostemp", &::mkostemp);
  return make_temporary(pattern, [&] { return really(pattern, flags); });
}
int mkostemp64(char* pattern, int flags) { return mkostemp(pattern, flags); }

ssize_t write(int fd, const void* bytes, size_t count) {
  static auto* const really = real("write", &::write);
  return write_part(fd, count, [&](std::size_t at, std::size_t size) {
    return really(fd, static_cast<const char*>(bytes) + at, size);
  });
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
  static auto* const really = real("pwrite64", &::pwrite64);
  return write_part(fd, count, [&](std::size_t at, std::size_t size) {
    return really(fd, static_cast<const char*>(bytes) + at, size, offset + static_cast<off64_t>(at));
  });
}
ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  return pwrite64(fd, bytes, count, offset);
}

int ftruncate64(int fd, off64_t size) {
  static auto* const really = real("ftruncate64", &::ftruncate64);
  return truncate_file(fd, [&] { return really(fd, size); });
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int fsync(int fd) {
  static auto* const really = real("fsync", &::fsync);
  return flush(fd, [&] { return really(fd); });
}
int fdatasync(int fd) {
  static auto* const really = real("fdatasync", &::fdatasync);
  return flush(fd, [&] { return really(fd); });
}

int close(int fd) {
  static auto* const really = real("close", &::close);
  const std::lock_guard lock(mutex);
  const Opened* of = find(fd);
  if (!of) return really(fd);
  const bool fails = of->file && step("close", of->name, false) != Fault::none;
  state->opened.erase(fd);
  const int error = errno;
  const int code = really(fd);
  if (!fails) return code;
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) {
  static auto* const really = real("rename", &::rename);
  const std::lock_guard lock(mutex);
  const auto old_name = inside(from);
  const auto new_name = inside(to);
  if (!old_name || !new_name) return really(from, to);
  if (step("rename", *old_name + " to " + *new_name, false) != Fault::none) return -1;
  const int code = really(from, to);
  if (code == 0) state->disk->renamed(*old_name, *new_name);
  return code;
}

int unlink(const char* path) { return remove_name(path, false); }
int rmdir(const char* path) { return remove_name(path, true); }
int remove(const char* path) {
  struct stat info{};
  return remove_name(path, lstat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

int mkdir(const char* path, mode_t mode) {
  static auto* const really = real("mkdir", &::mkdir);
  const std::lock_guard lock(mutex);
  const auto name = inside(path);
  if (!name || name->empty() || state->disk->has(*name)) return really(path, mode);
  if (step("make the folder", *name, true) != Fault::none) return -1;
  const int code = really(path, mode);
  if (code == 0) state->disk->made_folder(*name);
  return code;
}

}  // extern "C"
