// Scales and zero points of the tensors of a format that has them (Dialect::quantized). Clients: operators/.
#pragma once

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf {

/// Of the inputs `scale` and `zero_point` of the node, which must be constants; a zero point that is absent
/// is 0.
[[nodiscard]] Result<Quantization> read_quantization(const Lowering& lowering, const OnnxNode& node,
                                                     std::size_t scale, std::size_t zero_point);

/// An error if the tensor has another one.
[[nodiscard]] Status quantize_tensor(Lowering& lowering, const std::string& tensor,
                                     const Quantization& wanted);

/// An error unless all zero points are 0, which kernels expect of weights.
[[nodiscard]] Status expect_symmetric(const Quantization& weights);

}  // namespace driftscope::tf
