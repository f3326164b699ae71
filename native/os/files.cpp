#include "native/os/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "native/platform/trusted_path.hpp"

namespace driftscope {
namespace {

std::string system_message() { return std::strerror(errno); }

/// Closes at the end of a scope; -1 means no file.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error(system_message());
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

bool is_device(const std::filesystem::path& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
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

// A source on a mapped file copies this much at once, and then releases it.
constexpr std::size_t source_piece = 1 << 20;

// Where the kernel says that an open file is: what was examined by name may have been replaced since.
std::filesystem::path place_of(int fd) {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
}

Result<std::vector<std::byte>> read_whole(int fd, const struct stat& info,
                                          const std::filesystem::path& path) {
  std::vector<std::byte> bytes;
  try {
    bytes.resize(static_cast<std::size_t>(info.st_size) + 1);  // one extra byte detects the end immediately
    std::size_t filled = 0;
    while (true) {
      if (filled == bytes.size()) bytes.resize(bytes.size() * 2);
      const ssize_t got = ::read(fd, bytes.data() + filled, bytes.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return io_error(fmt::format("cannot read {}: {}", path.string(), system_message()));
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
  } catch (const std::bad_alloc&) {
    return limit_error(fmt::format("cannot read {}: out of memory for {} bytes", path.string(),
                                   static_cast<long long>(info.st_size)));
  }
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return bad_input(fmt::format("cannot read {}: {}", path.string(), system_message()));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0 || S_ISDIR(info.st_mode))
    return bad_input(fmt::format("cannot read {}: it is a folder, a file is needed", path.string()));
  return read_whole(file.get(), info, path);
}

Result<std::vector<std::byte>> read_inside(const std::filesystem::path& folder,
                                           const std::filesystem::path& name) {
  namespace fs = std::filesystem;
  constexpr const char* variable = "DRIFTSCOPE_MODEL_ROOT";
  const fs::path path = folder / name;
  const auto failed = [&] {
    return bad_input(fmt::format("cannot read {}: {}", path.string(), system_message()));
  };
  // Only found, not opened: to open a device may do something, and a pipe waits.
  const FileDescriptor found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (found.get() < 0) return failed();
  struct stat info{};
  if (::fstat(found.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return bad_input(fmt::format("cannot read {}: it is no regular file", path.string()));
  const fs::path place = place_of(found.get());
  std::error_code error;
  const auto holds = [&](const fs::path& allowed) {
    const fs::path whole = fs::canonical(allowed.empty() ? fs::path(".") : allowed, error);
    return !error && is_below(place, whole);
  };
  const char* root = std::getenv(variable);
  if (!holds(folder) && !(root != nullptr && *root != '\0' && holds(root)))
    return bad_input(
        fmt::format("cannot read {}: it leads out of its folder, to {}; if that is meant (as in a cache of "
                    "links), allow it with {}=FOLDER",
                    path.string(), place.string(), variable));
  const FileDescriptor file(
      ::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return failed();
  return read_whole(file.get(), info, path);
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  MappedFile mapped;
  {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info{};
    if (file.get() >= 0 && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      const auto size = static_cast<std::size_t>(info.st_size);
      void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
      if (memory != MAP_FAILED) {
        mapped.owner_ = std::shared_ptr<const void>(
            memory, [size](const void* begin) { ::munmap(const_cast<void*>(begin), size); });
        mapped.bytes_ = {static_cast<const std::byte*>(memory), size};
        mapped.mapped_ = true;
        return mapped;
      }
    }
  }
  DRIFTSCOPE_TRY(auto bytes, read_file(path));
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  mapped.bytes_ = *owner;
  mapped.owner_ = owner;
  return mapped;
}

ByteSource MappedFile::source() const {
  return {bytes_.size(), [file = *this](std::uint64_t offset, std::span<std::byte> target) {
            const auto whole = file.bytes_.subspan(static_cast<std::size_t>(offset), target.size());
            for (std::size_t done = 0; done < whole.size(); done += source_piece) {
              const auto part = whole.subspan(done, std::min(source_piece, whole.size() - done));
              std::copy(part.begin(), part.end(), target.begin() + static_cast<std::ptrdiff_t>(done));
              if (part.size() == source_piece) file.release(part);
            }
          }};
}

// The released pages of the file were not modified: no data is lost.
void MappedFile::release(std::span<const std::byte> part) const {
  if (!mapped_ || part.empty()) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<std::size_t>(part.data() - bytes_.data()) / page * page;
  const auto end = static_cast<std::size_t>(part.data() + part.size() - bytes_.data());
  ::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

bool can_be_replaced(const std::filesystem::path& path) { return !path.empty() && !is_device(path); }

Error AtomicFile::failure(const std::string& why) const {
  return io_error(fmt::format("cannot write {}: {}; nothing was left behind", path_.string(), why));
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  AtomicFile file(path);
  std::string beside = path.string() + ".XXXXXX";
  DRIFTSCOPE_TRY(file.cleanup_, CleanupRegistry::instance().add([&]() -> Result<CleanupRegistry::Undo> {
    file.fd_ = ::mkostemp(beside.data(), O_CLOEXEC);
    if (file.fd_ < 0) return file.failure(system_message());
    return CleanupRegistry::Undo([beside] { ::unlink(beside.c_str()); });
  }));
  file.beside_ = beside;
  if (::fchmod(file.fd_, 0666 & ~file_mask()) != 0) return file.failure(system_message());
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      beside_(std::exchange(other.beside_, "")),
      fd_(std::exchange(other.fd_, -1)),
      cleanup_(other.cleanup_) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (beside_.empty()) return;
  ::unlink(beside_.c_str());
  CleanupRegistry::instance().remove(cleanup_);
}

Status AtomicFile::append(std::span<const std::byte> bytes) {
  if (auto status = write_all(fd_, bytes); !status.ok()) return failure(status.error().message);
  return {};
}

Status AtomicFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(system_message());
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
  return {};
}

Status AtomicFile::read_at(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failure(got < 0 ? system_message() : "it is shorter than what was written");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
  return {};
}

void AtomicFile::begin_flush() { ::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE); }

Status AtomicFile::commit() {
  if (::fsync(fd_) != 0) return failure(system_message());
  // On some file systems close is the first sign of a full disk.
  if (::close(std::exchange(fd_, -1)) != 0) return failure(system_message());
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) return failure(system_message());
  beside_.clear();
  CleanupRegistry::instance().remove(cleanup_);
  return {};
}

Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  if (is_device(path)) {  // /dev/null, a pipe: renaming is impossible
    FileDescriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    const Status written =
        device.get() < 0 ? Status(io_error(system_message())) : write_all(device.get(), bytes);
    if (!written.ok())
      return io_error(fmt::format("cannot write {}: {}", path.string(), written.error().message));
    return {};
  }
  DRIFTSCOPE_TRY(AtomicFile file, AtomicFile::create(path));
  DRIFTSCOPE_CHECK(file.append(bytes));
  return file.commit();
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span(text)));
}

Status write_output(const std::string& path, std::string_view text) {
  if (path != "-") return write_file(path, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return io_error("cannot write to the standard output: " + system_message());
  return {};
}

}  // namespace driftscope
