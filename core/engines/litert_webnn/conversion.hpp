// .tflite files that LiteRT.js can run on Chromium's WebNN. Client: engine.cpp.
#pragma once

#include "core/convert/converted_model.hpp"

namespace driftscope::litert {

/// As tflite::to_litert, without convolutions among the captured values whose results a Relu or Clip reads:
/// Chromium 153 fuses such an activation into the convolution, and MLGraphBuilder.build never settles if the
/// convolution's own result is an output as well (build({c, r}) with c = conv2d(x, w), r = relu(c)).
[[nodiscard]] Result<convert::ConvertedModel> to_webnn(const Graph& graph,
                                                       const convert::ConvertOptions& options);

}  // namespace driftscope::litert
