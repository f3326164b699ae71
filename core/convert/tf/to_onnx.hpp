// TensorFlow's operators → ONNX. Values keep their names and their order of axes: a convolution is placed
// between two transpositions. What reads a quantized tensor computes on its real values (DequantizeLinear
// before, QuantizeLinear behind it). One file per family in to_onnx/operators, registered by the build.
// Clients: readers of .tflite files and TensorFlow.js models; from_onnx is the reverse.
#pragma once

#include "core/base/result.hpp"
#include "core/convert/tf/tf_graph.hpp"
#include "core/model/model.hpp"

namespace driftscope::tf {

/// Shapes of what nodes make need not be known (those of inputs are; −1 is a symbol). The error names the
/// node and the reason.
[[nodiscard]] Result<Model> to_onnx(const TfGraph& graph);

}  // namespace driftscope::tf
