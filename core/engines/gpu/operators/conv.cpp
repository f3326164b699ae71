// Conv in one and two dimensions with constant weights. A 1-D convolution is one of height 1.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/convolve.hpp"
#include "core/engines/gpu/operator_table.hpp"

namespace driftscope::gpu::conv {

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const auto parts = conv_parts(lowering, node);
  if (!parts || !can_convolve(lowering, *parts)) return false;
  const bool adds =
      conv_kernel(lowering, *parts) == ConvKernel::product && lowering.adds_sum(true, parts->outputs);
  const Fusion fusion = adds ? lowering.with_sum(node) : lowering.with_activation(node);
  const Shape x_shape = lowering.shape(node.inputs[0]);
  const Shape y_shape = lowering.shape(fusion.output);
  PlacedConv it;
  it.parts = *parts;
  it.clamp = fusion.clamp;
  it.pixels = element_count(y_shape) / parts->outputs;
  DRIFTSCOPE_TRY(it.in, lowering.read(node.inputs[0], channels_last(x_shape)));
  if (fusion.addend != no_value) {
    DRIFTSCOPE_TRY(it.addend, lowering.read(fusion.addend, channels_last(y_shape)));
  }
  it.out = lowering.write(fusion.output, channels_last(y_shape));
  DRIFTSCOPE_TRY(const bool done, emit_convolution(lowering, it));
  lowering.absorb(fusion);
  return done;
}

void add_to(GpuOperatorTable& table) { table.add("Conv", lower); }

}  // namespace driftscope::gpu::conv
