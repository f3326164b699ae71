// BatchNormalization behind Conv, ConvTranspose or Gemm goes into their weights, so that what runs as
// integers is not interrupted by floats. Client: quantize, for modes that quantize activations.
#pragma once

#include "core/graph/graph.hpp"
#include "core/model/model.hpp"

namespace driftscope::quantize {

/// `graph`: of this model. Does to the model what fold_batch_normalization does to the graph: a node keeps
/// its name and makes the value that the normalization made. How many were folded.
[[nodiscard]] std::int64_t fold_normalization(Model& model, Graph graph);

}  // namespace driftscope::quantize
