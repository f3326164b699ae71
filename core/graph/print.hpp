// Graph → text, one line per node, for people and for tests of passes.
#pragma once

#include <string>

#include "core/graph/graph.hpp"

namespace driftscope {

/// For example:
///   graph lenet5
///   input  input: float32 Nx1x28x28
///   const  conv1.weight: float32 6x1x5x5
///   Conv_0 = Conv[pads=[2,2,2,2]](input, conv1.weight, conv1.bias) -> c1: float32 Nx6x28x28
///   output probabilities: float32 Nx10
/// A subgraph follows its node, indented; values that it captures are listed as "outer".
[[nodiscard]] std::string print_graph(const Graph& graph);

}  // namespace driftscope
