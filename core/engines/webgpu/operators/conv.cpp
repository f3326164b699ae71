// Conv in one and two dimensions with constant weights: a product of the windows with the weights, or each
// channel separately. A 1-D convolution is one of height 1.
#include "core/engines/gpu/conv_parts.hpp"
#include "core/engines/webgpu/product.hpp"

namespace driftscope::webgpu::conv {

using gpu::window_values;

// C×1×(taps) → (taps)×C.
Result<Tensor> channels_innermost(const Tensor& w) {
  const std::int64_t channels = w.shape()[0];
  const std::int64_t taps = w.elements() / channels;
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {taps, channels}, "weights"));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t t = 0; t < taps; ++t)
      packed.mutable_values<float>()[static_cast<std::size_t>(t * channels + c)] =
          w.values<float>()[static_cast<std::size_t>(c * taps + t)];
  return packed;
}

Result<bool> lower_depthwise(Lowering& lowering, const Tensor& w, std::span<const float> bias, BufferId in,
                             BufferId out, const Window2d& window, const Fusion& fusion) {
  const Shape y_shape = lowering.shape(fusion.output);
  const std::int64_t channels = w.shape()[0];
  const bool vectors = channels % 4 == 0;
  DRIFTSCOPE_TRY(Tensor weights, channels_innermost(w));
  std::vector<float> all_bias(static_cast<std::size_t>(channels));
  std::copy(bias.begin(), bias.end(), all_bias.begin());
  DRIFTSCOPE_TRY(Tensor packed_bias, pack_bias(all_bias));
  ShaderValues values = window_values(window);
  values["TYPE"] = std::string(vectors ? "vec4f" : "f32");
  values["CHANNELS"] = vectors ? channels / 4 : channels;
  values["CLAMPED"] = fusion.clamp.none() ? 0 : 1;
  values["CLAMP_MIN"] = float_text(fusion.clamp.min);
  values["CLAMP_MAX"] = float_text(fusion.clamp.max);
  const BufferId w_buffer = lowering.keep(std::move(weights));
  const BufferId bias_buffer = lowering.keep(std::move(packed_bias));
  return lowering.emit_flat("webgpu/depthwise.wgsl", std::move(values), {in, w_buffer, bias_buffer}, out,
                            element_count(y_shape) / (vectors ? 4 : 1));
}

Result<bool> lower(Lowering& lowering, const Node& node) {
  const auto parts = gpu::conv_parts(lowering, node);
  if (!parts) return false;
  const std::int64_t outputs = parts->outputs;
  const std::int64_t channels = parts->channels;
  const bool depthwise = parts->groups > 1 && channels == 1 && outputs == parts->groups;
  if (parts->groups > 1 && !depthwise) return false;

  const ValueId x = node.inputs[0];
  const Shape x_shape = lowering.shape(x);
  const Tensor* const w = parts->w;
  const std::span<const float> bias = parts->bias;
  const Fusion fusion = depthwise ? lowering.with_activation(node) : lowering.with_sum(node);
  const Shape y_shape = lowering.shape(fusion.output);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(x_shape)));
  BufferId addend = no_buffer;
  if (fusion.addend != no_value) {
    DRIFTSCOPE_TRY(addend, lowering.read(fusion.addend, channels_last(y_shape)));
  }
  const BufferId out = lowering.write(fusion.output, channels_last(y_shape));
  if (depthwise) {
    DRIFTSCOPE_TRY(const bool done, lower_depthwise(lowering, *w, bias, in, out, parts->window, fusion));
    lowering.absorb(fusion);
    return done;
  }
  Product product;
  product.m = element_count(y_shape) / outputs;
  product.n = outputs;
  product.k = w->elements() / outputs;
  product.a = in;
  product.addend = addend;
  product.y = out;
  product.windows = true;
  product.a_vectors = channels % 4 == 0;
  product.b_packed = true;
  product.clamp = fusion.clamp;
  product.values = window_values(parts->window);
  product.values["C"] = channels;
  const std::int64_t taps = product.k / channels;
  const float* from = w->values<float>().data();
  DRIFTSCOPE_TRY(Tensor packed, pack_matrix(product.k, outputs, [&](std::int64_t k, std::int64_t n) {
                   return from[(n * channels + k % channels) * taps + k / channels];
                 }));
  product.b = lowering.keep(std::move(packed));
  if (!bias.empty()) {
    DRIFTSCOPE_TRY(Tensor packed_bias, pack_bias(bias));
    product.bias = lowering.keep(std::move(packed_bias));
  }
  DRIFTSCOPE_TRY(const bool done, emit_product(lowering, std::move(product)));
  lowering.absorb(fusion);
  return done;
}

void add_to(WebGpuOperatorTable& table) { table.add("Conv", lower); }

}  // namespace driftscope::webgpu::conv
