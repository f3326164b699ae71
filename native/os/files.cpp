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
#include <string>
#include <utility>

#include "core/base/text.hpp"
#include "native/os/atomic_file.hpp"
#include "native/os/file_descriptor.hpp"
#include "native/platform/trusted_path.hpp"

namespace driftscope {
namespace {

bool is_device(const std::filesystem::path& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
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

// In place: for what is not a file of ours to keep.
Status write_opened(const std::filesystem::path& path, int how, std::span<const std::byte> bytes,
                    mode_t mode = 0600) {
  const auto failed = [&](const std::string& why) {
    return io_error(fmt::format("cannot write {}: {}", path.string(), why));
  };
  FileDescriptor file(::open(path.c_str(), how | O_CLOEXEC, mode));
  if (file.get() < 0) return failed(system_message());
  if (const Status written = write_all(file.get(), bytes); !written.ok())
    return failed(written.error().message);
  if (::close(file.release()) != 0) return failed(system_message());
  return {};
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
  const fs::path path = folder / name;
  const auto failed = [&] {
    return bad_input(fmt::format("cannot read {}: {}", path.string(), system_message()));
  };
  // Only found, not opened: to open a device may do something, and a pipe waits.
  const FileDescriptor found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (found.get() < 0) return failed();
  struct stat info{};
  if (::fstat(found.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return bad_input(fmt::format("cannot read {}: it is not a regular file", path.string()));
  const fs::path place = place_of(found.get());
  std::error_code error;
  const auto holds = [&](const fs::path& allowed) {
    const fs::path whole = fs::canonical(allowed.empty() ? fs::path(".") : allowed, error);
    return !error && is_below(place, whole);
  };
  const char* root = std::getenv(model_root_variable);
  if (!holds(folder) && !(root != nullptr && *root != '\0' && holds(root)))
    return bad_input(
        fmt::format("cannot read {}: it leads out of its folder, to {}; if that is intended (as in a cache "
                    "of links), allow it with --model-root FOLDER, or {}=FOLDER",
                    path.string(), place.string(), model_root_variable));
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

Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  if (!is_device(path)) {
    DRIFTSCOPE_TRY(AtomicFile file, AtomicFile::create(path));
    DRIFTSCOPE_CHECK(file.append(bytes));
    return file.commit();
  }
  // /dev/null, a pipe: renaming is impossible
  return write_opened(path, O_WRONLY, bytes);
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span(text)));
}

Status write_json(const std::string& path, std::string_view json) {
  if (path != "-") return write_file(path, json);
  const std::string text = harmless_json(json);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return io_error("cannot write to the standard output: " + system_message());
  return {};
}

Status write_temporary(const std::filesystem::path& path, std::string_view text) {
  return write_opened(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, std::as_bytes(std::span(text)));
}

Status append_to_file(const std::filesystem::path& path, std::string_view text) {
  return write_opened(path, O_WRONLY | O_CREAT | O_APPEND, std::as_bytes(std::span(text)), 0666);
}

}  // namespace driftscope
