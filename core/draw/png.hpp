// Pictures as PNG files. Clients: the views' exports, the adversarials that an attack keeps.
#pragma once

#include <cstddef>
#include <vector>

#include "core/dataset/picture.hpp"
#include "core/draw/heat_map.hpp"

namespace driftscope {

/// 8-bit RGBA. Empty if the image is empty or too large for PNG.
[[nodiscard]] std::vector<std::byte> png_file(const Image& image);
/// 8-bit gray or RGB, as decode_picture reads it.
[[nodiscard]] std::vector<std::byte> png_file(const Picture& picture);

}  // namespace driftscope
