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

namespace {

// The released pages of the file were not modified: no data is lost.
void release_pages(std::span<const std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t begin = first / page * page;
  ::madvise(const_cast<std::byte*>(part.data()) - (first - begin), first - begin + part.size(),
            MADV_DONTNEED);
}

/// Nothing where it cannot be mapped.
SharedBytes map_opened(int fd, const struct stat& info) {
  if (!S_ISREG(info.st_mode) || info.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(info.st_size);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  // A page follows (SharedBytes::readable_behind).
  const std::size_t room = (size + page - 1) / page * page + page;
  void* memory = ::mmap(nullptr, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  std::shared_ptr<const void> owner(memory,
                                    [room](const void* begin) { ::munmap(const_cast<void*>(begin), room); });
  if (::mmap(memory, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) return {};
  return {std::move(owner), std::span(static_cast<const std::byte*>(memory), size), release_pages};
}

/// A file that is open for reading.
struct Opened {
  FileDescriptor file;
  struct stat info{};
  std::filesystem::path path;
};

Result<Opened> open_file(const std::filesystem::path& path) {
  Opened opened{FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), {}, path};
  if (opened.file.get() < 0)
    return bad_input(fmt::format("cannot read {}: {}", path.string(), system_message()));
  if (::fstat(opened.file.get(), &opened.info) != 0 || S_ISDIR(opened.info.st_mode))
    return bad_input(fmt::format("cannot read {}: it is a folder, a file is needed", path.string()));
  return opened;
}

Result<Opened> open_inside(const std::filesystem::path& folder, const std::filesystem::path& name) {
  namespace fs = std::filesystem;
  const fs::path path = folder / name;
  const auto failed = [&] {
    return bad_input(fmt::format("cannot read {}: {}", path.string(), system_message()));
  };
  // Only found, not opened: to open a device may do something, and a pipe waits.
  const FileDescriptor found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (found.get() < 0) return failed();
  Opened opened{FileDescriptor(), {}, path};
  if (::fstat(found.get(), &opened.info) != 0 || !S_ISREG(opened.info.st_mode))
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
  opened.file =
      FileDescriptor(::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.file.get() < 0) return failed();
  return opened;
}

Result<SharedBytes> share_opened(const Opened& opened) {
  if (opened.info.st_size >= min_mapped_bytes)
    if (SharedBytes mapped = map_opened(opened.file.get(), opened.info)) return mapped;
  DRIFTSCOPE_TRY(auto bytes, read_whole(opened.file.get(), opened.info, opened.path));
  return SharedBytes(std::move(bytes));
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(const Opened opened, open_file(path));
  return read_whole(opened.file.get(), opened.info, path);
}

Result<std::vector<std::byte>> read_inside(const std::filesystem::path& folder,
                                           const std::filesystem::path& name) {
  DRIFTSCOPE_TRY(const Opened opened, open_inside(folder, name));
  return read_whole(opened.file.get(), opened.info, opened.path);
}

Result<SharedBytes> share_file(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(const Opened opened, open_file(path));
  return share_opened(opened);
}

Result<SharedBytes> share_inside(const std::filesystem::path& folder, const std::filesystem::path& name) {
  DRIFTSCOPE_TRY(const Opened opened, open_inside(folder, name));
  return share_opened(opened);
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(const Opened opened, open_file(path));
  MappedFile mapped;
  mapped.shared_ = map_opened(opened.file.get(), opened.info);
  if (mapped.shared_) return mapped;
  DRIFTSCOPE_TRY(auto bytes, read_whole(opened.file.get(), opened.info, path));
  mapped.shared_ = SharedBytes(std::move(bytes));
  return mapped;
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

Status write_private(const std::filesystem::path& path, std::string_view text) {
  DRIFTSCOPE_TRY(AtomicFile file, AtomicFile::create(path));
  DRIFTSCOPE_CHECK(file.make_private());
  DRIFTSCOPE_CHECK(file.append(std::as_bytes(std::span(text))));
  return file.commit();
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
