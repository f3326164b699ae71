// How much a graph computes, for decisions before anything runs. Client: sensitivity. No measure of time.
#pragma once

#include "core/graph/graph.hpp"

namespace driftscope {

/// Multiplications of one run of a graph with known shapes: of convolutions, matrix products and recurrent
/// layers; of other nodes their output elements. What is unknown counts nothing.
[[nodiscard]] double multiply_adds(const Graph& graph);

}  // namespace driftscope
