// How much arithmetic a model needs, so that times can be read as a share of what a machine can do.
// Client: the bench command.
#pragma once

#include <optional>

#include "core/graph/graph.hpp"

namespace driftscope {

/// Floating-point operations of one run that are products and their sums: 2 for each multiply-add of
/// Conv, ConvTranspose, Gemm, MatMul, their quantized variants, RNN, GRU and LSTM; everything else counts
/// as 0. No value for a graph with unbound shapes at these nodes, or with subgraphs.
[[nodiscard]] std::optional<double> count_products(const Graph& graph);

}  // namespace driftscope
