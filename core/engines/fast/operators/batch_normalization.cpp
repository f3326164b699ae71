// BatchNormalization as x·a + b with one a and b per channel: a depthwise convolution of one tap, which is
// XNNPACK's vmulcaddc kernel.
#include <cmath>

#include "core/engines/fast/lowering.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::fast::batch_normalization {

Result<bool> lower(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return false;
  const Shape shape = lowering.shape(x);
  if (shape.size() < 2) return false;
  const std::int64_t channels = shape[1];
  std::array<const float*, 4> given{};  // scale, B, mean, var
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor* tensor = lowering.constant(node.inputs[i + 1]);
    if (tensor == nullptr || tensor->dtype() != DType::float32 || tensor->elements() != channels)
      return false;
    given[i] = tensor->values<float>().data();
  }
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  const Fusion fusion = lowering.with_activation(node);
  const auto count = static_cast<std::size_t>(channels);
  std::vector<float> scale(count);
  std::vector<float> shift(count);
  for (std::size_t c = 0; c < count; ++c) {
    scale[c] = given[0][c] / std::sqrt(given[3][c] + epsilon);
    shift[c] = given[1][c] - given[2][c] * scale[c];
  }
  xnn_operator_t raw = nullptr;
  if (xnn_create_convolution2d_nhwc_f32(0, 0, 0, 0, 1, 1, 1, 1, 1, 1, static_cast<std::uint32_t>(channels), 1,
                                        1, count, count, scale.data(), shift.data(), fusion.clamp.min,
                                        fusion.clamp.max, 0, nullptr, nullptr, &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const pthreadpool_t pool = lowering.pool_for(element_count(shape));
  std::size_t workspace_bytes = 0;
  std::size_t alignment = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  if (xnn_reshape_convolution2d_nhwc_f32(raw, 1, 1, static_cast<std::size_t>(element_count(shape) / channels),
                                         &workspace_bytes, &alignment, &height, &width,
                                         pool) != xnn_status_success)
    return false;
  const Layout layout = shape.size() > 2 ? channels_last(shape) : Layout{};
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(fusion.output, layout);
  const BufferId workspace = lowering.scratch(workspace_bytes);
  lowering.emit(
      std::move(op), pool, {in}, {out, workspace},
      [=](xnn_operator_t it, const Memory& memory) {
        return xnn_setup_convolution2d_nhwc_f32(it, memory.address(workspace), memory.at<const float>(in),
                                                memory.at<float>(out));
      },
      in);
  lowering.absorb(fusion);
  return true;
}

void add_to(FastOperatorTable& table) { table.add("BatchNormalization", lower); }

}  // namespace driftscope::fast::batch_normalization
