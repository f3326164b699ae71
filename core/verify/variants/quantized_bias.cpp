// ONNX Runtime's int32 biases of quantized sums, used even where the model has them in float32.
#include "core/verify/quantized_bias.hpp"

#include "core/verify/known_algorithm.hpp"

namespace driftscope::algorithms::quantized_bias {

void add_to(KnownAlgorithmTable& table) {
  table.add(
      {.id = "quantized-bias",
       .name = "a bias rounded to int32 steps of the scales of its inputs (ONNX Runtime from opt=basic up)",
       .operators = {"Conv", "ConvTranspose", "Gemm"},
       .bias = driftscope::quantized_bias});
}

}  // namespace driftscope::algorithms::quantized_bias
