// Tensors as pictures that a page can show without any file. Clients: the report, heat_map.
#pragma once

#include <span>
#include <string>

#include "core/base/base64.hpp"
#include "core/model/tensor.hpp"
#include "core/report/colour_map.hpp"

namespace driftscope {

/// "data:image/bmp;base64,…" of the first sample of an NCHW float32 tensor with 1 or 3 channels and at
/// most 512×512 pixels, its smallest value black and its largest white; empty for anything else.
[[nodiscard]] std::string picture_data_uri(const Tensor& tensor);

/// The same kind of text for entries of a palette, row by row from the top; a byte per pixel.
[[nodiscard]] std::string indexed_data_uri(std::int64_t width, std::int64_t height,
                                           std::span<const std::uint8_t> entries, const Palette& palette);

}  // namespace driftscope
