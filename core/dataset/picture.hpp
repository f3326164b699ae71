// A picture of 8 bits per channel, and PNG and JPEG → picture. Clients: preprocess, dataset, the
// command line. Colour profiles, gamma and orientation tags are not applied: pixels are what is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// Rows from the top, pixels from the left, the channels of a pixel side by side; 1 (gray) or 3 (RGB).
struct Picture {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;

  /// "480x640 RGB" (height first, as in shapes), for messages.
  [[nodiscard]] std::string text() const;
};

/// Most pixels of a picture that is decoded or made by resizing.
inline constexpr std::int64_t max_picture_pixels = std::int64_t{1} << 25;

/// Decodes a PNG or JPEG file, the same pixels on every host. Errors: another format, 16 bits per
/// channel, CMYK, a kind of JPEG that is neither baseline nor progressive, transparent pixels, sides
/// or pixels beyond the limits (checked before anything is decoded), a file that is cut short or
/// damaged.
[[nodiscard]] Result<Picture> decode_picture(std::span<const std::byte> bytes);

}  // namespace driftscope
