// LRN: each element of X divided by a power of the squares of its neighbouring channels, in the layout that X
// has.
#include <algorithm>
#include <cmath>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::gpu::lrn {

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y)) return false;
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1e-4f));
  DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", 0.75f));
  DRIFTSCOPE_TRY(const float bias, float_attribute(node, "bias", 1.0f));
  DRIFTSCOPE_TRY(const std::int64_t size, int_attribute(node, "size", 0));
  // Shaders have no literal for infinity and NaN, and their pow is undefined unless its base is positive.
  const bool defined = std::isfinite(alpha) && std::isfinite(beta) && std::isfinite(bias);
  if (!defined || alpha < 0.0f || bias <= 0.0f || size < 1) return false;

  const Shape shape = lowering.shape(x);
  const std::int64_t channels = shape[1];
  const std::int64_t before = std::min(channels - 1, (size - 1) / 2);
  const std::int64_t after = std::min(channels - 1, size / 2);
  if (!lowering.may_loop(before + after + 1)) return false;

  const bool images = shape.size() > 2 && lowering.layout(x) == channels_last(shape);
  const Layout layout = images ? lowering.layout(x) : Layout{};
  const std::int64_t inner = images ? 1 : element_count(std::span(shape).subspan(2));
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, layout);
  return lowering.emit_elements("lrn",
                                {{"CHANNELS", channels},
                                 {"INNER", inner},
                                 {"BEFORE", before},
                                 {"AFTER", after},
                                 {"WEIGHT", float_text(alpha / static_cast<float>(size))},
                                 {"BETA", float_text(beta)},
                                 {"BIAS", float_text(bias)}},
                                {in}, out, element_count(shape));
}

void add_to(GpuOperatorTable& table) { table.add("LRN", lower); }

}  // namespace driftscope::gpu::lrn
