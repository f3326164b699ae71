#include "native/cli/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace driftscope {
namespace {

std::string system_message() { return std::strerror(errno); }

/// Closes at the end of a scope; -1 is no file.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  /// The result of close(2): on some file systems the first sign of a full disk.
  [[nodiscard]] int close() { return ::close(std::exchange(fd_, -1)); }

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
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0)
    return bad_input(fmt::format("cannot read {}: {}", path.string(), system_message()));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || S_ISDIR(info.st_mode))
    return bad_input(fmt::format("cannot read {}: it is a folder, a file is needed", path.string()));
  std::vector<std::byte> bytes;
  try {
    bytes.resize(static_cast<std::size_t>(info.st_size) + 1);  // one more shows the end at once
    std::size_t filled = 0;
    while (true) {
      if (filled == bytes.size()) bytes.resize(bytes.size() * 2);
      const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        return io_error(fmt::format("cannot read {}: {}", path.string(), system_message()));
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

Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const auto fail = [&](const std::string& why) {
    return io_error(fmt::format("cannot write {}: {}; nothing was left behind", path.string(), why));
  };
  if (is_device(path)) {  // /dev/null, a pipe: there is nothing to rename
    FileDescriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0) return fail(system_message());
    if (const Status written = write_all(device.get(), bytes); !written.ok())
      return fail(written.error().message);
    return {};
  }
  std::string beside = path.string() + ".XXXXXX";
  FileDescriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  if (file.get() < 0) return fail(system_message());
  const mode_t mask = ::umask(0);
  ::umask(mask);
  Status status = ::fchmod(file.get(), 0666 & ~mask) == 0 ? Status()
                                                          : Status(io_error(system_message()));
  if (status.ok()) status = write_all(file.get(), bytes);
  if (status.ok() && ::fsync(file.get()) != 0) status = io_error(system_message());
  if (file.close() != 0 && status.ok()) status = io_error(system_message());
  if (status.ok() && std::rename(beside.c_str(), path.c_str()) != 0)
    status = io_error(system_message());
  if (!status.ok()) {
    ::unlink(beside.c_str());
    return fail(status.error().message);
  }
  return {};
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
