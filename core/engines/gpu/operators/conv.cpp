// Conv in one and two dimensions with constant weights: a product of the windows with the weights, each
// channel by itself, or one output after the other. A 1-D convolution is one of height 1.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/engines/gpu/conv_parts.hpp"
#include "core/engines/gpu/operator_table.hpp"

namespace driftscope::gpu::conv {

/// The parts, and where they lie on the device.
struct Placed {
  ConvParts parts = {};
  BufferId in = no_buffer;
  BufferId addend = no_buffer;
  BufferId out = no_buffer;
  Clamp clamp = {};
  std::int64_t pixels = 0;  ///< of the result
};

// O×C×(taps) → (taps)×O, of one channel; or else → O×(taps)×C.
Result<Tensor> reordered(const ConvParts& parts, bool taps_outermost) {
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {parts.w->elements()}, "weights"));
  float* const to = packed.mutable_values<float>().data();
  const float* from = parts.w->values<float>().data();
  for (std::int64_t o = 0; o < parts.outputs; ++o)
    for (std::int64_t c = 0; c < parts.channels; ++c)
      for (std::int64_t t = 0; t < parts.taps; ++t)
        to[taps_outermost ? t * parts.outputs + o : (o * parts.taps + t) * parts.channels + c] = *from++;
  return packed;
}

Result<bool> as_product(GpuLowering& lowering, const Placed& it) {
  const ConvParts& parts = it.parts;
  Product product;
  product.m = it.pixels;
  product.n = parts.outputs;
  product.k = parts.taps * parts.channels;
  product.a = it.in;
  product.bias = parts.bias;
  product.addend = it.addend;
  product.y = it.out;
  product.clamp = it.clamp;
  product.window = parts.window;
  product.channels = parts.channels;
  product.constant_b = [from = parts.w->values<float>().data(), channels = parts.channels, taps = parts.taps](
                           std::int64_t k, std::int64_t n) {
    return from[(n * channels + k % channels) * taps + k / channels];
  };
  return lowering.emit_product(std::move(product));
}

Result<bool> depthwise(GpuLowering& lowering, const Placed& it) {
  DRIFTSCOPE_TRY(Tensor weights, reordered(it.parts, true));
  return lowering.emit_depthwise(it.parts, it.clamp, it.pixels, it.in, lowering.keep(std::move(weights)),
                                 it.out);
}

Result<bool> one_by_one(GpuLowering& lowering, const Placed& it) {
  const ConvParts& parts = it.parts;
  DRIFTSCOPE_TRY(Tensor weights, reordered(parts, false));
  DRIFTSCOPE_TRY(Tensor bias, Tensor::make(DType::float32, {parts.outputs}, "a bias"));
  std::ranges::copy(parts.bias, bias.mutable_values<float>().begin());
  const BufferId weights_at = lowering.keep(std::move(weights));
  const BufferId bias_at = lowering.keep(std::move(bias));
  ShaderValues values = window_values(parts.window);
  add_clamp(values, it.clamp);
  values["OUTPUTS"] = parts.outputs;
  values["GROUPS"] = parts.groups;
  values["CG"] = parts.channels;
  return lowering.emit_elements("conv_any", std::move(values), {it.in, weights_at, bias_at}, it.out,
                                it.pixels * parts.outputs);
}

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const auto parts = conv_parts(lowering, node);
  if (!parts) return false;
  const ConvKernel kernel =
      choose_conv_kernel(parts->groups, parts->outputs, parts->channels, lowering.depthwise_unit());
  const std::int64_t steps = parts->channels % 4 == 0 ? parts->channels / 4 : parts->channels;
  if (kernel == ConvKernel::any && !lowering.may_loop(parts->taps * (steps + 2))) return false;

  const bool adds = kernel == ConvKernel::product && lowering.adds_sum(true, parts->outputs);
  const Fusion fusion = adds ? lowering.with_sum(node) : lowering.with_activation(node);
  const Shape x_shape = lowering.shape(node.inputs[0]);
  const Shape y_shape = lowering.shape(fusion.output);
  Placed it;
  it.parts = *parts;
  it.clamp = fusion.clamp;
  it.pixels = element_count(y_shape) / parts->outputs;
  DRIFTSCOPE_TRY(it.in, lowering.read(node.inputs[0], channels_last(x_shape)));
  if (fusion.addend != no_value) {
    DRIFTSCOPE_TRY(it.addend, lowering.read(fusion.addend, channels_last(y_shape)));
  }
  it.out = lowering.write(fusion.output, channels_last(y_shape));
  DRIFTSCOPE_TRY(const bool done, kernel == ConvKernel::product     ? as_product(lowering, it)
                                  : kernel == ConvKernel::depthwise ? depthwise(lowering, it)
                                                                    : one_by_one(lowering, it));
  lowering.absorb(fusion);
  return done;
}

void add_to(GpuOperatorTable& table) { table.add("Conv", lower); }

}  // namespace driftscope::gpu::conv
