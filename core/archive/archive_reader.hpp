// A zip file in memory or mapped: its members in place, or unpacked. Client: kept comparisons (core/kept).
// Reads what zip writers commonly make: stored or deflated members, ZIP64; no encryption, no parts. It writes
// no files and knows nothing of what the members mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// A member as the list at the end of the file has it.
struct ArchiveMember {
  std::span<const std::byte> packed;  ///< its bytes in the file
  std::uint64_t size = 0;             ///< of its contents
  std::uint32_t crc = 0;              ///< of its contents
  bool deflated = false;
};

class ArchiveReader {
 public:
  /// `bytes`, the whole file, must outlive the reader and what it gives. Errors: no zip file, one that is
  /// cut, a member that lies outside, occurs twice, is encrypted, packed by another method, or has a name
  /// that leads elsewhere.
  [[nodiscard]] static Result<ArchiveReader> open(std::span<const std::byte> bytes);

  [[nodiscard]] const std::map<std::string, ArchiveMember, std::less<>>& members() const { return members_; }
  [[nodiscard]] bool has(std::string_view name) const { return members_.contains(name); }

  /// A stored member, in place; its checksum is verified. An error where it is deflated or not there.
  [[nodiscard]] Result<std::span<const std::byte>> stored(std::string_view name) const;
  /// Any member, unpacked and its checksum verified; an error above `max_bytes`.
  [[nodiscard]] Result<std::vector<std::byte>> read(std::string_view name, std::uint64_t max_bytes) const;

 private:
  [[nodiscard]] Result<const ArchiveMember*> find(std::string_view name) const;

  std::map<std::string, ArchiveMember, std::less<>> members_;
};

/// Whether the bytes begin as a zip file does.
[[nodiscard]] bool is_archive(std::span<const std::byte> bytes);

}  // namespace driftscope
