// ONNX → TensorFlow's operators, channels last. One file per operator or family in operators/, registered by
// the build. Layouts are planned over the whole graph: values of rank 4 that convolutions, pools and the like
// make stay channels last until a reader needs ONNX's order, and a transposition is inserted only there.
// Clients: core/convert/tfjs, core/convert/tflite.
#pragma once

#include "core/convert/converted_model.hpp"
#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::tf {

struct Lowered {
  TfGraph graph;  ///< outputs: those of the ONNX graph, then the captured values
  /// As ConvertedModel has them.
  std::map<std::string, convert::PlacedValue, std::less<>> values;
  std::map<std::string, std::string, std::less<>> without;
  std::map<std::string, std::string> facts;
};

/// `graph` has its shapes bound. Values keep their names (as far as TensorFlow's rules for names allow), so
/// that a value made by one operator is found by its name. The error names the node and the reason.
[[nodiscard]] Result<Lowered> from_onnx(const Graph& graph, const convert::ConvertOptions& options,
                                        const Dialect& dialect);

}  // namespace driftscope::tf
