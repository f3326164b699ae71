// lut4: weights as k-means look-up tables of 16 floats, as Core ML's kmeans_lut with 4 bits.
#include "core/quantize/lut_mode.hpp"

namespace driftscope::quantize::modes::lut4 {
namespace {

Status apply(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes) {
  return apply_lut(edit, options, 4, notes);
}

}  // namespace

void add_to(ModeTable& table) {
  table.add({.order = 66,
             .name = "lut4",
             .summary = "weights as a k-means table of 16 floats per tensor, as Core ML's; computes in float",
             .opset = 21,
             .ir = 10,
             .layers = weighted_layers,
             .apply = apply});
}

}  // namespace driftscope::quantize::modes::lut4
