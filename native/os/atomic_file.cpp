#include "native/os/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

void remove_abandoned(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_unfinished_name(entry->path().filename().string())) remove_if_abandoned(entry->path());
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

Error AtomicFile::failure(const std::string& why) const {
  return io_error(fmt::format("cannot write {}: {}; nothing was left behind", path_.string(), why));
}

// Another program may take the file for an abandoned one before it is locked. Then it has lost its name.
Status AtomicFile::begin() {
  constexpr int attempts = 10;
  for (int i = 0; i < attempts; ++i) {
    std::string name = unfinished_name(path_);
    file_ = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (file_.get() < 0) return failure(system_message());
    const bool busy = ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (busy || !same_file(file_.get(), name)) continue;
    beside_ = std::move(name);
    return {};
  }
  return failure("other programs remove its temporary file");
}

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  remove_abandoned(folder_of(path));
  AtomicFile file(path);
  DRIFTSCOPE_TRY(file.cleanup_, CleanupRegistry::instance().add([&]() -> Result<CleanupRegistry::Undo> {
    DRIFTSCOPE_CHECK(file.begin());
    return CleanupRegistry::Undo([beside = file.beside_] { ::unlink(beside.c_str()); });
  }));
  if (::fchmod(file.file_.get(), 0666 & ~file_mask()) != 0) return file.failure(system_message());
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      beside_(std::exchange(other.beside_, "")),
      file_(std::move(other.file_)),
      cleanup_(other.cleanup_) {}

AtomicFile::~AtomicFile() {
  if (beside_.empty()) return;
  ::unlink(beside_.c_str());
  CleanupRegistry::instance().remove(cleanup_);
}

Status AtomicFile::append(std::span<const std::byte> bytes) {
  if (auto status = write_all(file_.get(), bytes); !status.ok()) return failure(status.error().message);
  return {};
}

Status AtomicFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(system_message());
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
  return {};
}

Status AtomicFile::read_at(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failure(got < 0 ? system_message() : "it is shorter than what was written");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
  return {};
}

void AtomicFile::begin_flush() { ::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE); }

Status AtomicFile::commit() {
  if (::fsync(file_.get()) != 0) return failure(system_message());
  // Keeps the lock until the file has its name.
  const FileDescriptor locked(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  // On some file systems close is the first sign of a full disk.
  if (::close(file_.release()) != 0) return failure(system_message());
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) return failure(system_message());
  beside_.clear();
  CleanupRegistry::instance().remove(cleanup_);
  if (const Status kept = flush_folder(folder_of(path_)); !kept.ok())
    return io_error(
        fmt::format("{} is written, but its folder cannot be flushed to the disk: {}; a loss of "
                    "power may undo it, write it again",
                    path_.string(), kept.error().message));
  return {};
}

}  // namespace driftscope
