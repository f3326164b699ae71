// lut8: weights as k-means look-up tables of 256 floats, as Core ML's kmeans_lut with 8 bits.
#include "core/quantize/lut_mode.hpp"

namespace driftscope::quantize::modes::lut8 {
namespace {

Status apply(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes) {
  return apply_lut(edit, options, 8, notes);
}

}  // namespace

void add_to(ModeTable& table) {
  table.add(
      {.order = 62,
       .name = "lut8",
       .summary = "weights as a k-means table of 256 floats per tensor, as Core ML's; computes in float",
       .opset = 0,
       .ir = 4,
       .layers = weighted_layers,
       .apply = apply});
}

}  // namespace driftscope::quantize::modes::lut8
