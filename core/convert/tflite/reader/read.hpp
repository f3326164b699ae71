// Reads a .tflite file into a graph of TensorFlow's operators: fused activations become nodes of their
// own, filters TensorFlow's [height, width, in, out], quantized tensors keep their scales. The first
// subgraph is read, and those that an IF in it runs; loops, variables and custom operators other than
// MediaPipe's are errors that name the operator. Bytes are verified (flatbuffers' own verifier), then
// every index, size and shape before it is used. Clients: callers that read models.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/result.hpp"
#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::tflite {

/// Whether these bytes are a .tflite file by its mark.
[[nodiscard]] bool is_tflite(std::span<const std::byte> bytes);

[[nodiscard]] Result<tf::TfGraph> read(std::span<const std::byte> bytes);

}  // namespace driftscope::tflite
