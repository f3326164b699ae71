// .tflite files that LiteRT.js can run on Chromium's WebNN. Client: engine.cpp.
#pragma once

#include "core/convert/converted_model.hpp"

namespace driftscope::litert {

/// As tflite::to_litert, without convolutions among the captured values whose results a Relu or Clip reads:
/// in Chromium 153 MLGraphBuilder.build({c, r}) with c = conv2d(x, w) and r = relu(c) had not settled after
/// 20 s, while build({r}) did. Presumably the activation is fused into the convolution.
[[nodiscard]] Result<convert::ConvertedModel> to_webnn(const Graph& graph,
                                                       const convert::ConvertOptions& options);

}  // namespace driftscope::litert
