// Pictures as PNG files. Clients: what the views save.
#pragma once

#include <cstddef>
#include <vector>

#include "core/gui/heat_map.hpp"

namespace driftscope::gui {

/// 8-bit RGBA. Empty when the image is empty or too large to be one.
[[nodiscard]] std::vector<std::byte> png_file(const Image& image);

}  // namespace driftscope::gui
