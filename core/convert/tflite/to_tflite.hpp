// ONNX → .tflite. Clients: driftscope export, the engines litert-*, convert-check.
#pragma once

#include "core/convert/converted_model.hpp"
#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::tflite {

/// What TensorFlow Lite can express.
[[nodiscard]] const tf::Dialect& dialect();

/// model.tflite, with the captured values among its outputs. The place of each of our values is stored in the
/// file as well, as the metadata "driftscope.values": {our name: {"tensor", "order"?}}.
[[nodiscard]] Result<convert::ConvertedModel> to_tflite(const Graph& graph,
                                                        const convert::ConvertOptions& options);

/// The same for LiteRT.js, which exchanges float32, int32 and uint8 alone: inputs and outputs of other types
/// are converted inside the model.
[[nodiscard]] Result<convert::ConvertedModel> to_litert(const Graph& graph,
                                                        const convert::ConvertOptions& options);

/// The same for LiteRT.js on an accelerator, where captured values must be copies: see captured_copies.hpp.
[[nodiscard]] Result<convert::ConvertedModel> to_accelerator(const Graph& graph,
                                                             const convert::ConvertOptions& options);

}  // namespace driftscope::tflite
