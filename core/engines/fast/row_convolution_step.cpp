#include "core/engines/fast/row_convolution_step.hpp"

#include <new>
#include <optional>

#include "core/engines/fast/row_convolution.hpp"
#include "core/engines/fast/row_step.hpp"

namespace driftscope::fast {

Result<bool> lower_by_rows(Lowering& lowering, const Node& node, const FloatConv& conv) {
  const RowWindow window{conv.x_shape[0], conv.x_shape[1], conv.window};
  const std::int64_t outputs = conv.w->shape()[0];
  if (!is_row_convolution(window, conv.groups)) return false;
  const Fusion fusion = lowering.with_activation(node);
  const Shape y_shape = lowering.shape(fusion.output);
  const std::int64_t work = element_count(y_shape) * (conv.w->elements() / outputs);
  const std::int64_t threads = lowering.pool_for(work) == nullptr ? 1 : lowering.threads().size();
  std::optional<RowConvolution> convolution;
  try {
    convolution.emplace(window, outputs, row_convolution_kernels(lowering.simd()),
                        conv.w->values<float>().data(), conv.bias, fusion.clamp.min, fusion.clamp.max,
                        lowering.threads(), threads);
  } catch (const std::bad_alloc&) {
    return false;
  }
  DRIFTSCOPE_CHECK(emit_rows<float>(lowering, *std::move(convolution), window, conv.x, fusion.output));
  lowering.absorb(fusion);
  return true;
}

}  // namespace driftscope::fast
