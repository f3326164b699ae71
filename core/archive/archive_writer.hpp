// Writes a zip file member by member, as a stream: nothing but the list of members is held. Client: kept
// comparisons (core/kept). The same members give the same bytes: no times of day go in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.hpp"

namespace driftscope {

/// Where the archive goes: a file, or memory.
class ArchiveOutput {
 public:
  virtual ~ArchiveOutput() = default;
  [[nodiscard]] virtual Status append(std::span<const std::byte> bytes) = 0;
  /// Overwrites bytes that were appended before: sizes and checksums are known only at a member's end.
  [[nodiscard]] virtual Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
};

enum class Packing {
  stored,    ///< can be read in place
  deflated,  ///< smaller; for texts
};

class ArchiveWriter {
 public:
  /// `output` must outlive the writer.
  explicit ArchiveWriter(ArchiveOutput& output);
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  /// Begins a member; write() fills it, the next begin() or finish() ends it.
  [[nodiscard]] Status begin(const std::string& name, Packing packing);
  [[nodiscard]] Status write(std::span<const std::byte> bytes);
  /// All at once.
  [[nodiscard]] Status add(const std::string& name, Packing packing, std::span<const std::byte> bytes);
  /// The list of members, without which the file is cut.
  [[nodiscard]] Status finish();

 private:
  struct State;
  [[nodiscard]] Status end_member();
  [[nodiscard]] Error failure(const char* what) const;

  std::unique_ptr<State> state_;
};

}  // namespace driftscope
