// Pictures as PNG files. Clients: the views' exports.
#pragma once

#include <cstddef>
#include <vector>

#include "core/draw/heat_map.hpp"

namespace driftscope {

/// 8-bit RGBA. Empty if the image is empty or too large for PNG.
[[nodiscard]] std::vector<std::byte> png_file(const Image& image);

}  // namespace driftscope
