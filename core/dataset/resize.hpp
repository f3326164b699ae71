// Bilinear resizing of 8-bit pictures, in integers: the same pixels on every host, and with antialias
// those of Pillow's Image.resize(BILINEAR), which torchvision uses. Client: preprocess.
#pragma once

#include <cstdint>

#include "core/base/result.hpp"
#include "core/dataset/picture.hpp"

namespace driftscope {

/// Rows first, then columns; between the two, pixels are rounded to bytes. Along an axis of `in` pixels
/// that becomes `out`, output pixel x has its centre at c = (x + 1/2)·in/out. Input pixel i weighs
/// max(0, 1 − |i + 1/2 − c|/s), where s = max(1, in/out) with antialias and 1 without (two neighbours),
/// for i from ⌊c − s + 1/2⌋ up to before ⌊c + s + 1/2⌋, inside the picture. Weights are divided by their
/// sum and rounded to multiples of 2⁻²² (ties away from zero); sums are rounded half up and clamped.
/// Everything up to the rounding of the weights is binary64 without fused operations.
[[nodiscard]] Result<Picture> resize_bilinear(const Picture& picture, std::int64_t height, std::int64_t width,
                                              bool antialias);

/// A crop of height × width around the centre, rounded to even as torchvision's CenterCrop does. The
/// picture must be at least as large.
[[nodiscard]] Result<Picture> crop_center(const Picture& picture, std::int64_t height, std::int64_t width);

}  // namespace driftscope
