// int4: weights as signed integers of 4 bits, a scale for each block of 32 along what a channel sums over
// (DequantizeLinear-21); activations stay in float.
#include "core/quantize/weights.hpp"

namespace driftscope::quantize::modes::int4 {
namespace {

constexpr std::int64_t block = 32;

Status apply(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& /*notes*/) {
  return compress_weights(
      edit, options, [](ModelEdit& to, const std::string& name, const Tensor& weight, const WeightUse& use) {
        return emit_blocked(to, name, weight, use, DType::int4, block);
      });
}

}  // namespace

void add_to(ModeTable& table) {
  table.add({.order = 40,
             .name = "int4",
             .summary = "weights as int4 with a scale per block of 32 (opset 21); computes in float",
             .opset = 21,
             .ir = 10,
             .layers = weighted_layers,
             .apply = apply});
}

}  // namespace driftscope::quantize::modes::int4
