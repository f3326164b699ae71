// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/conv_parts.hpp"

#include "core/ops/shared/convolution.hpp"

namespace driftscope::gpu {

std::optional<ConvParts> conv_parts(const Node& node, const Shape& x, const Tensor& w,
                                    std::span<const float> bias) {
  if (w.elements() == 0) return std::nullopt;
  const auto window = window2d(node, x, w.shape());
  const auto group = read_group(node);
  if (!window || !group.ok()) return std::nullopt;
  ConvParts parts;
  parts.w = &w;
  parts.bias = bias;
  parts.window = *window;
  parts.groups = *group;
  parts.outputs = w.shape()[0];
  parts.channels = w.shape()[1];
  parts.taps = w.elements() / parts.outputs / parts.channels;
  return parts;
}

std::optional<ConvParts> conv_parts(const GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const Tensor* const w = lowering.constant(node.inputs[1]);
  if (w == nullptr || w->dtype() != DType::float32 || !lowering.is_float(x) ||
      !lowering.is_float(node.outputs[0]))
    return std::nullopt;
  std::span<const float> bias;
  if (lowering.has_input(node, 2)) {
    const Tensor* b = lowering.constant(node.inputs[2]);
    if (b == nullptr || b->dtype() != DType::float32) return std::nullopt;
    bias = b->values<float>();
  }
  return conv_parts(node, lowering.shape(x), *w, bias);
}

ConvKernel choose_conv_kernel(std::int64_t groups, std::int64_t outputs, std::int64_t channels,
                              std::int64_t depthwise_unit) {
  if (groups == 1) return ConvKernel::product;
  const bool each_by_itself = groups == outputs && channels == 1;
  return each_by_itself && outputs % depthwise_unit == 0 ? ConvKernel::depthwise : ConvKernel::any;
}

ShaderValues window_values(const lowering::Window2d& window) {
  const WindowAxis& h = window.height;
  const WindowAxis& v = window.width;
  return {{"IN_H", h.input},          {"IN_W", v.input},      {"OUT_H", h.output},
          {"OUT_W", v.output},        {"KERNEL_H", h.kernel}, {"KERNEL_W", v.kernel},
          {"STRIDE_Y", h.stride},     {"STRIDE_X", v.stride}, {"DILATION_Y", h.dilation},
          {"DILATION_X", v.dilation}, {"PAD_Y", h.pad_begin}, {"PAD_X", v.pad_begin}};
}

}  // namespace driftscope::gpu
