// What linear8 and linear4 share. Client: these modes.
#pragma once

#include "core/quantize/weights.hpp"

namespace driftscope::quantize {

/// Weights as uint8 or uint4, affine, a scale for each output channel; everything is computed in float.
[[nodiscard]] inline Status apply_linear(ModelEdit& edit, const ModeOptions& options, DType dtype) {
  return compress_weights(edit, options,
                          [dtype](ModelEdit& to, const std::string& name, const Tensor& weight,
                                  const WeightUse& use) -> Result<std::string> {
                            DRIFTSCOPE_TRY(Quantized quantized,
                                           quantize_tensor(weight, dtype, along(use.channels)));
                            return emit_dequantized(to, name, std::move(quantized), along(use.channels));
                          });
}

}  // namespace driftscope::quantize
