// Moves tensors between our form and that of a converted model: order of axes and element type. Clients:
// core/engines/peer, core/convert_check, core/convert/tflite.
#pragma once

#include "core/convert/converted_model.hpp"

namespace driftscope::convert {

/// A tensor in ONNX's order as the other model has it. Errors: an element that the type there cannot hold, an
/// order of another rank.
[[nodiscard]] Result<Tensor> to_placed(const Tensor& tensor, const PlacedValue& place);

/// The reverse, with `dtype` as our graph has it (undefined: as it is). A tensor whose rank or type the graph
/// does not lead to expect is returned as it came: verify says what is wrong with it.
[[nodiscard]] Result<Tensor> from_placed(const Tensor& tensor, const PlacedValue& place, DType dtype);

/// The same elements as another type; only where each of them keeps its value.
[[nodiscard]] Result<Tensor> with_dtype(const Tensor& tensor, DType dtype);

/// Axis i of the result is axis order[i]; empty: as it is. Errors: no permutation of the tensor's axes,
/// elements of less than a byte.
[[nodiscard]] Result<Tensor> permuted(const Tensor& tensor, const std::vector<std::size_t>& order);

/// The order that undoes a permutation.
[[nodiscard]] std::vector<std::size_t> inverse(const std::vector<std::size_t>& order);

}  // namespace driftscope::convert
