// Constants in another order of axes: TensorFlow Lite has the output channels of weights first. Clients:
// operators/.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope::tflite {

/// Axis i of the result is axis order[i] of `tensor`, whose elements are whole bytes.
[[nodiscard]] Result<Tensor> permuted(const Tensor& tensor, std::span<const std::size_t> order);

}  // namespace driftscope::tflite
