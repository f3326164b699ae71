// Conv in one and two dimensions with constant weights: a product of the windows with the weights, or each
// channel separately. A 1-D convolution is one of height 1.
#include "core/engines/gpu/conv_parts.hpp"
#include "core/engines/webgl/product.hpp"

namespace driftscope::webgl::conv {

using gpu::conv_parts;
using gpu::window_values;
using Parts = gpu::ConvParts;

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

Result<bool> as_product(Lowering& lowering, const Parts& parts, BufferId in, BufferId addend, BufferId out,
                        const Fusion& fusion) {
  Product product;
  product.m = element_count(lowering.shape(fusion.output)) / parts.outputs;
  product.n = parts.outputs;
  product.k = parts.taps * parts.channels;
  product.a = in;
  product.addend = addend;
  product.y = out;
  product.bias = parts.bias;
  product.windows = !is_pointwise(parts.window) || parts.outputs % 4 != 0;
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

// What is neither is for the operator that GPU engines share.
Result<bool> lower(Lowering& lowering, const Node& node) {
  const auto parts = conv_parts(lowering, node);
  if (!parts) return false;
  const bool each_by_itself = parts->groups == parts->outputs && parts->channels == 1;
  const bool in_fours = parts->outputs % 4 == 0;
  if (parts->groups > 1 && !(each_by_itself && in_fours)) return false;
  const Fusion fusion =
      each_by_itself || !in_fours ? lowering.with_activation(node) : lowering.with_sum(node);
  DRIFTSCOPE_TRY(const BufferId in,
                 lowering.read(node.inputs[0], channels_last(lowering.shape(node.inputs[0]))));
  const Layout y_layout = channels_last(lowering.shape(fusion.output));
  BufferId addend = no_buffer;
  if (fusion.addend != no_value) {
    DRIFTSCOPE_TRY(addend, lowering.read(fusion.addend, y_layout));
  }
  const BufferId out = lowering.write(fusion.output, y_layout);
  const Result<bool> done = parts->groups == 1 ? as_product(lowering, *parts, in, addend, out, fusion)
                                               : depthwise(lowering, *parts, in, out, fusion);
  lowering.absorb(fusion);
  return done;
}

void add_to(WebGlOperatorTable& table) { table.add("Conv", lower); }

}  // namespace driftscope::webgl::conv
