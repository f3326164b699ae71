// Conv in one and two dimensions with constant weights: XNNPACK's convolution on NHWC, depthwise where
// each channel has its own kernel. A 1-D convolution is one of height 1.
#include <algorithm>

#include "core/engines/fast/lowering.hpp"
#include "core/engines/fast/operators/quantized_conv.hpp"
#include "core/engines/fast/window2d.hpp"
#include "core/ops/support/convolution.hpp"

namespace driftscope::fast::conv {

// O×I×(taps) → O×(taps)×I.
Result<Tensor> channels_innermost(const Tensor& w) {
  const Shape& shape = w.shape();
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, shape, "weights"));
  reorder(shape, sizeof(float), {}, w.bytes().data(), channels_last(shape),
          packed.mutable_bytes().data());
  return packed;
}

Result<bool> lower(Lowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const bool quantized, lower_between_quantized(lowering, node));
  if (quantized) return true;
  const ValueId x = node.inputs[0];
  const Tensor* w = lowering.constant(node.inputs[1]);
  if (w == nullptr || w->dtype() != DType::float32 || w->elements() == 0 ||
      !lowering.is_float(x) || !lowering.is_float(node.outputs[0]))
    return false;
  const Tensor* b = nullptr;
  if (lowering.has_input(node, 2)) {
    b = lowering.constant(node.inputs[2]);
    if (b == nullptr || b->dtype() != DType::float32) return false;
  }
  const Shape x_shape = lowering.shape(x);
  const auto window = window2d(node, x_shape, w->shape());
  const auto group = read_group(node);
  if (!window || !group.ok()) return false;

  const Fusion fusion = lowering.with_activation(node);
  DRIFTSCOPE_TRY(const Tensor weights, channels_innermost(*w));
  const auto u32 = [](std::int64_t size) { return static_cast<std::uint32_t>(size); };
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const WindowAxis& h = window->height;
  const WindowAxis& v = window->width;
  const std::int64_t outputs = w->shape()[0];
  xnn_operator_t raw = nullptr;
  const xnn_status created = xnn_create_convolution2d_nhwc_f32(
      u32(h.pad_begin), u32(v.pad_end), u32(h.pad_end), u32(v.pad_begin), u32(h.kernel),
      u32(v.kernel), u32(h.stride), u32(v.stride), u32(h.dilation), u32(v.dilation), u32(*group),
      size(w->shape()[1]), size(outputs / *group), size(x_shape[1]), size(outputs),
      weights.values<float>().data(), b == nullptr ? nullptr : b->values<float>().data(),
      fusion.clamp.min, fusion.clamp.max, 0, nullptr, nullptr, &raw);
  XnnOperator op(raw);
  if (created != xnn_status_success) return false;

  const pthreadpool_t pool = lowering.pool_for(
      element_count(lowering.shape(fusion.output)) * w->elements() / std::max<std::int64_t>(outputs, 1));
  std::size_t workspace_bytes = 0;
  std::size_t alignment = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  if (xnn_reshape_convolution2d_nhwc_f32(raw, size(x_shape[0]), size(h.input), size(v.input),
                                         &workspace_bytes, &alignment, &height, &width,
                                         pool) != xnn_status_success ||
      height != size(h.output) || width != size(v.output))
    return false;

  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(x_shape)));
  const BufferId out =
      lowering.write(fusion.output, channels_last(lowering.shape(fusion.output)));
  const BufferId workspace = lowering.scratch(workspace_bytes);
  lowering.emit(std::move(op), pool, {in}, {out, workspace},
                [=](xnn_operator_t it, const Memory& memory) {
                  return xnn_setup_convolution2d_nhwc_f32(it, memory.address(workspace),
                                                          memory.at<const float>(in),
                                                          memory.at<float>(out));
                });
  lowering.absorb(fusion);
  return true;
}

void add_to(FastOperatorTable& table) { table.add("Conv", lower); }

}  // namespace driftscope::fast::conv
