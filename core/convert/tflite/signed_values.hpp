// TensorFlow Lite's quantized kernels compute with int8 alone where weights have a scale for each channel, so
// that activations of uint8 are shifted by 128: the same real values. Client: to_tflite.cpp.
#pragma once

#include <set>
#include <string>

#include "core/convert/tf/from_onnx.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::tflite {

struct SignedGraph {
  Graph graph;
  std::set<std::string, std::less<>> shifted;  ///< values that are int8 now
};

/// Values of uint8 between quantized operators, and zero points and weights of these, as int8. Values keep
/// their names; outputs of the graph, and values that other operators read, stay as they are.
[[nodiscard]] Result<SignedGraph> signed_values(Graph graph);

/// Adds, for those shifted values that are among the outputs, what shifts them back.
void restore_shifted(tf::Lowered& lowered, const std::set<std::string, std::less<>>& shifted);

}  // namespace driftscope::tflite
