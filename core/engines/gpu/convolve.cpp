// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/convolve.hpp"

#include <algorithm>

namespace driftscope::gpu {
namespace {

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

Result<bool> as_product(GpuLowering& lowering, const PlacedConv& it) {
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

Result<bool> depthwise(GpuLowering& lowering, const PlacedConv& it) {
  DRIFTSCOPE_TRY(Tensor weights, reordered(it.parts, true));
  return lowering.emit_depthwise(it.parts, it.clamp, it.pixels, it.in, lowering.keep(std::move(weights)),
                                 it.out);
}

Result<bool> one_by_one(GpuLowering& lowering, const PlacedConv& it) {
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

}  // namespace

ConvKernel conv_kernel(const GpuLowering& lowering, const ConvParts& parts) {
  return choose_conv_kernel(parts.groups, parts.outputs, parts.channels, lowering.depthwise_unit());
}

bool can_convolve(const GpuLowering& lowering, const ConvParts& parts) {
  const std::int64_t steps = parts.channels % 4 == 0 ? parts.channels / 4 : parts.channels;
  return conv_kernel(lowering, parts) != ConvKernel::any || lowering.may_loop(parts.taps * (steps + 2));
}

Result<bool> emit_convolution(GpuLowering& lowering, const PlacedConv& it) {
  switch (conv_kernel(lowering, it.parts)) {
    case ConvKernel::product: return as_product(lowering, it);
    case ConvKernel::depthwise: return depthwise(lowering, it);
    default: return one_by_one(lowering, it);
  }
}

}  // namespace driftscope::gpu
