// Conv in one and two dimensions with constant weights: a product of the windows with the weights where the
// outputs come in fours, each channel by itself, or one output after the other. A 1-D convolution is one of
// height 1.
#include "core/engines/webgl/product.hpp"
#include "core/lowering/window2d.hpp"
#include "core/ops/shared/convolution.hpp"

namespace driftscope::webgl::conv {

struct Parts {
  const Tensor* w = nullptr;
  std::span<const float> bias;
  Window2d window;
  std::int64_t groups = 1;
  std::int64_t outputs = 0;
  std::int64_t channels = 0;  // of one group
  std::int64_t taps = 0;
};

std::optional<Parts> parts_of(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  Parts parts;
  parts.w = lowering.constant(node.inputs[1]);
  if (parts.w == nullptr || parts.w->dtype() != DType::float32 || parts.w->elements() == 0 ||
      !lowering.is_float(x) || !lowering.is_float(node.outputs[0]))
    return std::nullopt;
  if (lowering.has_input(node, 2)) {
    const Tensor* b = lowering.constant(node.inputs[2]);
    if (b == nullptr || b->dtype() != DType::float32) return std::nullopt;
    parts.bias = b->values<float>();
  }
  const auto window = window2d(node, lowering.shape(x), parts.w->shape());
  const auto group = read_group(node);
  if (!window || !group.ok()) return std::nullopt;
  parts.window = *window;
  parts.groups = *group;
  parts.outputs = parts.w->shape()[0];
  parts.channels = parts.w->shape()[1];
  parts.taps = parts.w->elements() / parts.outputs / parts.channels;
  return parts;
}

ShaderValues window_values(const Window2d& window) {
  const WindowAxis& h = window.height;
  const WindowAxis& v = window.width;
  return {{"IN_H", h.input},          {"IN_W", v.input},      {"OUT_H", h.output},
          {"OUT_W", v.output},        {"KERNEL_H", h.kernel}, {"KERNEL_W", v.kernel},
          {"STRIDE_Y", h.stride},     {"STRIDE_X", v.stride}, {"DILATION_Y", h.dilation},
          {"DILATION_X", v.dilation}, {"PAD_Y", h.pad_begin}, {"PAD_X", v.pad_begin}};
}

// Weights as `order` has them: element (output, tap, channel) at order(...).
template <class Order>
Result<BufferId> keep_weights(Lowering& lowering, const Parts& parts, const Order& order) {
  std::vector<float> packed(static_cast<std::size_t>(parts.w->elements()));
  const float* from = parts.w->values<float>().data();
  for (std::int64_t o = 0; o < parts.outputs; ++o)
    for (std::int64_t c = 0; c < parts.channels; ++c)
      for (std::int64_t t = 0; t < parts.taps; ++t)
        packed[static_cast<std::size_t>(order(o, t, c))] = *from++;
  return keep_padded(lowering, packed);
}

Result<std::vector<BufferId>> reads_of(Lowering& lowering, const Parts& parts, BufferId in,
                                       BufferId weights) {
  std::vector<BufferId> reads = {in, weights};
  if (!parts.bias.empty()) {
    DRIFTSCOPE_TRY(const BufferId bias, keep_padded(lowering, parts.bias));
    reads.push_back(bias);
  }
  return reads;
}

// One pixel, and no padding: the channels are the rows of A.
bool is_pointwise(const Window2d& window) {
  const auto whole = [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.output == axis.input;
  };
  return whole(window.height) && whole(window.width);
}

Result<bool> as_product(Lowering& lowering, const Parts& parts, BufferId in, BufferId out,
                        const Fusion& fusion) {
  Product product;
  product.m = element_count(lowering.shape(fusion.output)) / parts.outputs;
  product.n = parts.outputs;
  product.k = parts.taps * parts.channels;
  product.a = in;
  product.y = out;
  product.bias = parts.bias;
  product.windows = !is_pointwise(parts.window);
  product.channels = parts.channels;
  product.clamp = fusion.clamp;
  product.values = window_values(parts.window);
  product.constant_b = [from = parts.w->values<float>().data(), channels = parts.channels, taps = parts.taps](
                           std::int64_t k, std::int64_t n) {
    return from[(n * channels + k % channels) * taps + k / channels];
  };
  return emit_product(lowering, std::move(product));
}

Result<bool> depthwise(Lowering& lowering, const Parts& parts, BufferId in, BufferId out,
                       const Fusion& fusion) {
  DRIFTSCOPE_TRY(const BufferId weights,
                 keep_weights(lowering, parts, [&](std::int64_t o, std::int64_t t, std::int64_t /*c*/) {
                   return t * parts.outputs + o;
                 }));
  DRIFTSCOPE_TRY(auto reads, reads_of(lowering, parts, in, weights));
  ShaderValues values = window_values(parts.window);
  add_result_values(values, !parts.bias.empty(), fusion.clamp);
  values["C"] = parts.outputs;
  values["ROWS"] = element_count(lowering.shape(fusion.output)) / parts.outputs;
  DRIFTSCOPE_CHECK(lowering.emit_draw("webgl/depthwise.glsl", std::move(values), std::move(reads), out));
  return true;
}

Result<bool> any(Lowering& lowering, const Parts& parts, BufferId in, BufferId out, const Fusion& fusion) {
  DRIFTSCOPE_TRY(const BufferId weights,
                 keep_weights(lowering, parts, [&](std::int64_t o, std::int64_t t, std::int64_t c) {
                   return (o * parts.taps + t) * parts.channels + c;
                 }));
  DRIFTSCOPE_TRY(auto reads, reads_of(lowering, parts, in, weights));
  ShaderValues values = window_values(parts.window);
  add_result_values(values, !parts.bias.empty(), fusion.clamp);
  values["OUTPUTS"] = parts.outputs;
  values["GROUPS"] = parts.groups;
  values["CG"] = parts.channels;
  values["ELEMENTS"] = 1;
  values["COUNT"] = element_count(lowering.shape(fusion.output));
  DRIFTSCOPE_CHECK(lowering.emit_draw("webgl/conv_any.glsl", std::move(values), std::move(reads), out));
  return true;
}

Result<bool> lower(Lowering& lowering, const Node& node) {
  const auto parts = parts_of(lowering, node);
  if (!parts) return false;
  // In the slowest of the shaders.
  const std::int64_t channel_steps = parts->channels % 4 == 0 ? parts->channels / 4 : parts->channels;
  if (!lowering.may_loop(parts->taps * (channel_steps + 2))) return false;
  const Fusion fusion = lowering.with_activation(node);
  DRIFTSCOPE_TRY(const BufferId in,
                 lowering.read(node.inputs[0], channels_last(lowering.shape(node.inputs[0]))));
  const BufferId out = lowering.write(fusion.output, channels_last(lowering.shape(fusion.output)));
  const bool pixels_whole =
      parts->outputs % 4 == 0 && lowering.texels(out).layer_texels % (parts->outputs / 4) == 0;
  const bool each_by_itself = parts->groups == parts->outputs && parts->channels == 1;
  Result<bool> done = false;
  if (pixels_whole && parts->groups == 1)
    done = as_product(lowering, *parts, in, out, fusion);
  else if (pixels_whole && each_by_itself)
    done = depthwise(lowering, *parts, in, out, fusion);
  else
    done = any(lowering, *parts, in, out, fusion);
  lowering.absorb(fusion);
  return done;
}

void add_to(WebGlOperatorTable& table) { table.add("Conv", lower); }

}  // namespace driftscope::webgl::conv
