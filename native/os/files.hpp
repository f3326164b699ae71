// Files of the command line: read whole or mapped, written to a temporary name and renamed, so that no
// incomplete file ever has the requested name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_source.hpp"
#include "core/base/result.hpp"
#include "native/os/cleanup.hpp"

namespace driftscope {

/// Errors give the file and the system's message; a directory is not a file.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);

/// A file that another file names: a regular one inside `folder`, out of which no link may lead, unless into
/// $DRIFTSCOPE_MODEL_ROOT. Never waits for a pipe or a device.
[[nodiscard]] Result<std::vector<std::byte>> read_inside(const std::filesystem::path& folder,
                                                         const std::filesystem::path& name);

/// A file mapped into memory: read on access, so that a large one need not fit. A file that
/// cannot be mapped (a pipe) is read whole.
class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// The same, piece by piece; it keeps the mapping. The memory of a large piece is released after reading,
  /// so that reading a model once does not keep all of it in memory.
  [[nodiscard]] ByteSource source() const;
  /// Releases the memory of accessed pages; on the next access they are read again.
  void release() const { release(bytes_); }

 private:
  void release(std::span<const std::byte> part) const;

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  bool mapped_ = false;
};

/// Whether a file can be written under a temporary name and renamed: not a device, a pipe or "".
[[nodiscard]] bool can_be_replaced(const std::filesystem::path& path);

/// A file that is written under a temporary name and renamed when complete; without commit it is
/// removed (also when a signal ends the program), and an older file of that name is untouched. Errors
/// include the system's message.
class AtomicFile {
 public:
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] Status append(std::span<const std::byte> bytes);
  /// Overwrites existing bytes.
  [[nodiscard]] Status write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Reads exactly bytes.size() of them.
  [[nodiscard]] Status read_at(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Asks the system to start writing appended data to the disk, if it can; does not wait.
  void begin_flush();
  /// Flushes to the disk and renames.
  [[nodiscard]] Status commit();

 private:
  explicit AtomicFile(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] Error failure(const std::string& why) const;

  std::filesystem::path path_;
  std::string beside_;  // empty once committed
  int fd_ = -1;
  CleanupRegistry::Id cleanup_ = 0;  // while beside_ is not empty
};

/// Writes to a temporary file in the same folder, flushes it to the disk and renames it. On any error
/// (including a full disk) the temporary file is removed and an older file of that name is untouched.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view text);

/// Like write_file; "-" is the standard output.
[[nodiscard]] Status write_output(const std::string& path, std::string_view text);

}  // namespace driftscope
