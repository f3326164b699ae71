// A tensor as a picture that a page can show without any file: for image inputs in the report.
#pragma once

#include <string>

#include "core/model/tensor.hpp"

namespace driftscope {

/// "data:image/bmp;base64,…" of the first sample of an NCHW float32 tensor with 1 or 3 channels and at
/// most 512×512 pixels, its smallest value black and its largest white; empty for anything else.
[[nodiscard]] std::string picture_data_uri(const Tensor& tensor);

/// RFC 4648 base64.
[[nodiscard]] std::string base64(const std::string& bytes);

}  // namespace driftscope
