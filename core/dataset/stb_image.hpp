// stb_image, compiled in one file of its own (cmake/core.cmake lets its integers wrap). Client: picture.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/result.hpp"
#include "core/dataset/picture.hpp"

namespace driftscope {

/// PNG or JPEG → pixels of 1 to 4 channels (gray, gray + alpha, RGB, RGBA). The header has been checked:
/// this trusts its sizes.
[[nodiscard]] Result<Picture> decode_with_stb(std::span<const std::byte> bytes);

}  // namespace driftscope
