// An input of a model as a picture, where it is one. Clients: the summary view, the report.
#pragma once

#include "core/draw/heat_map.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// NCHW in float32 with 1 or 3 channels, neither side 1 nor above 2048.
[[nodiscard]] bool is_picture(DType dtype, const Shape& shape);

/// The first sample of such a tensor, its smallest value black, its largest white; empty for anything else.
[[nodiscard]] Image sample_picture(const Tensor& tensor);

}  // namespace driftscope
