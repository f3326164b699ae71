// linear8: Core ML's linear quantization of weights to 8 bits, a scale for each output channel. Core ML
// stores scale and bias as floats, ONNX a zero point that is a step: 0 stays exact, and the rest may lie up
// to half a step beside Core ML's.
#include "core/quantize/linear_mode.hpp"

namespace driftscope::quantize::modes::linear8 {
namespace {

Status apply(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& /*notes*/) {
  return apply_linear(edit, options, DType::uint8);
}

}  // namespace

void add_to(ModeTable& table) {
  table.add(
      {.order = 52,
       .name = "linear8",
       .summary = "weights as uint8 with a scale per output channel, as Core ML's linear; computes in float",
       .opset = 13,
       .ir = 4,
       .layers = weighted_layers,
       .apply = apply});
}

}  // namespace driftscope::quantize::modes::linear8
