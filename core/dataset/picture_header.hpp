// What the headers of a PNG or JPEG file say, read without decoding it. Client: picture.
// Sources: Portable Network Graphics (W3C, third edition), 5 and 11; ITU-T T.81, annex B.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/result.hpp"

namespace driftscope {

struct PictureHeader {
  const char* format = "";  ///< "PNG" or "JPEG"
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Walks the file from its first bytes to its end mark, so that a file which is cut short is found
/// here instead of being shown as gray rows. Rejects what decode_picture promises to reject, except
/// transparency and damage inside the compressed data.
[[nodiscard]] Result<PictureHeader> read_picture_header(std::span<const std::byte> bytes);

}  // namespace driftscope
