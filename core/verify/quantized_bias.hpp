// The bias of a sum between DequantizeLinear nodes as ONNX Runtime computes it from opt=basic up (its
// WeightBiasQuantization): an int32 multiple of the product of the two scales, off by up to half of that.
// Clients: variants/quantized_bias.cpp, which names it; derivation, for groups.
#pragma once

#include <optional>

#include "core/graph/graph.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

class Derivation;

/// Replaces input 2 of a Conv, ConvTranspose or Gemm whose first two inputs come from DequantizeLinear
/// with constant scales; nothing for other nodes, and if the bias is not a float32 constant.
[[nodiscard]] std::optional<Tensor> quantized_bias(const Graph& graph, NodeId node,
                                                   const Derivation& derivation);

}  // namespace driftscope
