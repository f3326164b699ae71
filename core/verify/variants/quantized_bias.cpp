// ONNX Runtime's int32 biases of quantized sums, used even where the model has them in float32.
// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/quantized_bias.hpp"

#include "core/verify/variant.hpp"

namespace driftscope::variants::quantized_bias {

namespace {

std::vector<Candidate> with_quantized_bias(const LayerCase& layer) {
  std::vector<Candidate> candidates;
  if (auto bias = driftscope::quantized_bias(layer.graph, layer.id, layer.derivation))
    candidates.push_back({.inputs = {other_input(2, *std::move(bias))}});
  return candidates;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add(
      {.family = "algorithm",
       .id = "quantized-bias",
       .name = "a bias rounded to int32 steps of the scales of its inputs (ONNX Runtime from opt=basic up)",
       .operators = {"Conv", "ConvTranspose", "Gemm"},
       .candidates = with_quantized_bias});
}

}  // namespace driftscope::variants::quantized_bias
