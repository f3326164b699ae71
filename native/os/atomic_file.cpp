#include "native/os/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "native/os/folders.hpp"
#include "native/os/unfinished_file.hpp"

namespace driftscope {

namespace fs = std::filesystem;

Error AtomicFile::failure(const std::string& why) const {
  return io_error(fmt::format("cannot write {}: {}; nothing was left behind", path_.string(), why));
}

Status AtomicFile::begin() {
  auto made = begin_unfinished(path_);
  if (!made.ok()) return failure(made.error().message);
  file_ = std::move(made->file);
  beside_ = std::move(made->name);
  return {};
}

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  remove_abandoned_files(folder_of(path));
  AtomicFile file(path);
  DRIFTSCOPE_TRY(file.cleanup_, CleanupRegistry::instance().add([&]() -> Result<CleanupRegistry::Undo> {
    DRIFTSCOPE_CHECK(file.begin());
    return CleanupRegistry::Undo([beside = file.beside_] { ::unlink(beside.c_str()); });
  }));
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

Status AtomicFile::make_private() {
  if (::fchmod(file_.get(), S_IRUSR | S_IWUSR) != 0) return failure(system_message());
  return {};
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
  const FileDescriptor locked = keep_lock(file_.get());
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
