// Files of the command line: read whole or mapped, written beside and renamed, so that nothing half-written
// is ever left under the name that was asked for.
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

/// Errors say which file and what the system said; a directory is no file.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);

/// A file mapped into memory: read when it is touched, so that a large one need not fit. What
/// cannot be mapped (a pipe) is read whole.
class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// The same, piece by piece; it keeps the mapping. The memory of a large piece that was read is given back,
  /// so that who reads a model once does not hold all of it.
  [[nodiscard]] ByteSource source() const;
  /// Gives the memory of what was touched back; touched again it is read again.
  void release() const { release(bytes_); }

 private:
  void release(std::span<const std::byte> part) const;

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  bool mapped_ = false;
};

/// Whether a file can be written beside this name and renamed: no device, no pipe, not "".
[[nodiscard]] bool can_be_replaced(const std::filesystem::path& path);

/// A file that is written beside its name and takes the name when it is complete; without commit it is
/// gone (also when a signal ends the program), and an older file of that name is untouched. Errors
/// say what the system said.
class AtomicFile {
 public:
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] Status append(std::span<const std::byte> bytes);
  /// Over what is there already.
  [[nodiscard]] Status write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Exactly bytes.size() of them.
  [[nodiscard]] Status read_at(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Lets the system begin to bring to the disk what was appended, if it can; waits for nothing.
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
/// (a full disk too) the temporary file is removed and an older file of that name is untouched.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view text);

/// As write_file; "-" is the standard output.
[[nodiscard]] Status write_output(const std::string& path, std::string_view text);

}  // namespace driftscope
