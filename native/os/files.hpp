// Files of the command line: read whole or mapped, and written whole or not at all (atomic_file.hpp).
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
#include "core/base/shared_bytes.hpp"

namespace driftscope {

/// Errors give the file and the system's message; a directory is not a file.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);

/// In the environment: a folder into which links of models may lead.
inline constexpr const char* model_root_variable = "DRIFTSCOPE_MODEL_ROOT";

/// A file that another file names: a regular one inside `folder`, out of which no link may lead, unless into
/// $DRIFTSCOPE_MODEL_ROOT. Never waits for a pipe or a device.
[[nodiscard]] Result<std::vector<std::byte>> read_inside(const std::filesystem::path& folder,
                                                         const std::filesystem::path& name);

/// Files of at least this size are mapped where smaller ones are read: those stay as they were when their
/// file is written again.
inline constexpr std::int64_t min_mapped_bytes = std::int64_t{256} << 20;

/// As read_file and read_inside; a large file is mapped instead.
[[nodiscard]] Result<SharedBytes> share_file(const std::filesystem::path& path);
[[nodiscard]] Result<SharedBytes> share_inside(const std::filesystem::path& folder,
                                               const std::filesystem::path& name);

/// A file mapped into memory: read on access, so that a large one need not fit. A file that
/// cannot be mapped (a pipe) is read whole.
class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);
  [[nodiscard]] std::span<const std::byte> bytes() const { return shared_.bytes(); }
  /// The same, piece by piece; it keeps the mapping. The memory of a large piece is released after reading,
  /// so that reading a model once does not keep all of it in memory.
  [[nodiscard]] ByteSource source() const { return shared_.source(); }
  /// Releases the memory of accessed pages; on the next access they are read again.
  void release() const { shared_.release(); }

 private:
  SharedBytes shared_;
};

/// Whether an AtomicFile can take its place: not a device, a pipe or "".
[[nodiscard]] bool can_be_replaced(const std::filesystem::path& path);

/// Writes an AtomicFile: on any error (including a full disk) an older file of that name is untouched.
/// Devices and pipes are written to.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view text);

/// Like write_file, of mode 0600: for keys.
[[nodiscard]] Status write_private(const std::filesystem::path& path, std::string_view text);

/// Like write_file; "-" is the standard output, as harmless_json.
[[nodiscard]] Status write_json(const std::string& path, std::string_view text);

/// A new file of mode 0600 in a temporary folder; nobody needs it after a crash, so it is not flushed.
[[nodiscard]] Status write_temporary(const std::filesystem::path& path, std::string_view text);

/// Appends to a file that another program collects; a crash may cut the text.
[[nodiscard]] Status append_to_file(const std::filesystem::path& path, std::string_view text);

}  // namespace driftscope
