// A tar archive packed with gzip, as npm's packages are: ustar, with long names in pax or GNU form. Client:
// npm. Links and devices are left out; it writes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/base/result.hpp"

namespace driftscope {

struct TarballLimits {
  std::uint64_t bytes = std::uint64_t{2} << 30;         ///< unpacked, all together
  std::uint64_t file_bytes = std::uint64_t{512} << 20;  ///< of a file that is wanted
  std::size_t files = 100'000;
};

struct TarballReader {
  /// Whether a file with this name is wanted.
  std::function<bool(const std::string& name)> wants;
  std::function<Status(const std::string& name, std::span<const std::byte> content)> file;
};

/// Calls the reader for each regular file, in the archive's order. Errors: no such archive, one that is cut
/// or beyond the limits, a name that leads elsewhere, the reader's.
[[nodiscard]] Status read_tarball(std::span<const std::byte> packed, const TarballReader& reader,
                                  const TarballLimits& limits = {});

}  // namespace driftscope
