// Tensors of traces that other programs made, in the types and shapes of the model's values. Clients:
// TraceView, verify's matching of types.
#pragma once

#include "core/model/tensor.hpp"

namespace driftscope {

/// Whether a tensor of type `from` may be taken for one of type `to`: integers that are narrower, which loses
/// nothing, and float64, which is rounded to nearest.
[[nodiscard]] bool can_convert(DType from, DType to);

/// `shape` has as many elements. Errors: types that cannot be converted.
[[nodiscard]] Result<Tensor> converted_tensor(const Tensor& tensor, DType to, Shape shape);

}  // namespace driftscope
