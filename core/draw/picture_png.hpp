// A picture of 8 bits a channel as a PNG file. Client: the adversarials that an attack keeps.
#pragma once

#include <cstddef>
#include <vector>

#include "core/dataset/picture.hpp"

namespace driftscope {

/// 8-bit gray or RGB, as decode_picture reads it. Empty if the picture is empty, too large for PNG, or has
/// another number of channels or pixels.
[[nodiscard]] std::vector<std::byte> png_file(const Picture& picture);

}  // namespace driftscope
