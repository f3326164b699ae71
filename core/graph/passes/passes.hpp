// Graph → Graph: the same outputs from fewer nodes. Values keep their ids (rewriter.hpp); a value without
// a producing node no longer exists. Client: the fast engine, when it may fuse.
#pragma once

#include "core/graph/graph.hpp"

namespace driftscope {

/// Removes Identity and, for inference, Dropout, unless they make an output of the graph.
[[nodiscard]] Graph remove_identities(Graph graph);

/// Conv, ConvTranspose or Gemm with constant weights whose only reader is a BatchNormalization with
/// constant statistics: scale/√(var + ε) goes into the weights, the rest into the bias, computed in
/// double and rounded once. The node then produces the output of the normalization.
[[nodiscard]] Graph fold_batch_normalization(Graph graph);

/// Pad with zeros whose only reader is a Conv, or an AveragePool (made to count the padding): the pads
/// become the operator's own.
[[nodiscard]] Graph fold_pads(Graph graph);

/// ½·x·(1 + erf(x/√2)) out of five nodes of float32, as exporters write it until opset 19: one Gelu. The
/// product's three factors may come in any order.
[[nodiscard]] Graph fuse_gelu(Graph graph);

}  // namespace driftscope
