// A file that is there whole or not at all, whatever ends the program or the machine. Clients: files, the
// writer of traces. What programs that were killed left is removed by the next one that writes to the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/base/result.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/file_descriptor.hpp"

namespace driftscope {

/// A file that is written under a temporary name, ".NAME.driftscope-XXXXXX", and renamed when complete;
/// without commit it is removed (also when a signal ends the program), and an older file of that name is
/// untouched. It is locked while it is written, so that others know that its owner lives. Errors include the
/// system's message.
class AtomicFile {
 public:
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// From here on only this user can read or write it. Before the first bytes.
  [[nodiscard]] Status make_private();
  [[nodiscard]] Status append(std::span<const std::byte> bytes);
  /// Overwrites existing bytes.
  [[nodiscard]] Status write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Reads exactly bytes.size() of them.
  [[nodiscard]] Status read_at(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Asks the system to start writing appended data to the disk, if it can; does not wait.
  void begin_flush();
  /// Flushes to the disk, renames, and flushes the folder: a success survives a loss of power.
  [[nodiscard]] Status commit();

 private:
  explicit AtomicFile(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] Error failure(const std::string& why) const;
  [[nodiscard]] Status begin();

  std::filesystem::path path_;
  std::string beside_;  // empty once committed
  FileDescriptor file_;
  CleanupRegistry::Id cleanup_ = 0;  // while beside_ is not empty
};

}  // namespace driftscope
