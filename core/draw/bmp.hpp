// Pictures that a page can show without any file: a Windows bitmap, whose bytes need no compression and, in
// 256 colours, one byte for each pixel. Client: the report. (Saved pictures are PNG: png.hpp.)
#pragma once

#include <string>

#include "core/draw/heat_map.hpp"

namespace driftscope {

/// For cells without a value: a bitmap knows no transparency.
inline constexpr Colour gap_colour = rgb(0xcdd0d4);

/// "data:image/bmp;base64,…", indexed where the image has at most 256 colours; "" for an empty image.
[[nodiscard]] std::string bmp_data_uri(const Image& image);

}  // namespace driftscope
