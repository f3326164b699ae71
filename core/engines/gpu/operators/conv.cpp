// Conv in any number of groups and outputs, one output after the other: for what an engine's own Conv
// declines.
#include <algorithm>

#include "core/engines/gpu/conv_parts.hpp"
#include "core/engines/gpu/operator_table.hpp"

namespace driftscope::gpu::conv {

// O×C×(taps) → O×(taps)×C.
Result<Tensor> channels_innermost(const ConvParts& parts) {
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {parts.w->elements()}, "weights"));
  float* to = packed.mutable_values<float>().data();
  const float* from = parts.w->values<float>().data();
  for (std::int64_t o = 0; o < parts.outputs; ++o, from += parts.channels * parts.taps)
    for (std::int64_t t = 0; t < parts.taps; ++t)
      for (std::int64_t c = 0; c < parts.channels; ++c) *to++ = from[c * parts.taps + t];
  return packed;
}

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const auto parts = conv_parts(lowering, node);
  if (!parts) return false;
  const std::int64_t steps = parts->channels % 4 == 0 ? parts->channels / 4 : parts->channels;
  if (!lowering.may_loop(parts->taps * (steps + 2))) return false;
  const Fusion fusion = lowering.with_activation(node);
  const Shape x_shape = lowering.shape(node.inputs[0]);
  const Shape y_shape = lowering.shape(fusion.output);
  DRIFTSCOPE_TRY(Tensor weights, channels_innermost(*parts));
  DRIFTSCOPE_TRY(Tensor bias, Tensor::make(DType::float32, {parts->outputs}, "a bias"));
  std::ranges::copy(parts->bias, bias.mutable_values<float>().begin());
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(node.inputs[0], channels_last(x_shape)));
  const BufferId out = lowering.write(fusion.output, channels_last(y_shape));
  const BufferId weights_at = lowering.keep(std::move(weights));
  const BufferId bias_at = lowering.keep(std::move(bias));
  ShaderValues values = window_values(parts->window);
  values["OUTPUTS"] = parts->outputs;
  values["GROUPS"] = parts->groups;
  values["CG"] = parts->channels;
  values["CLAMPED"] = fusion.clamp.none() ? 0 : 1;
  values["CLAMP_MIN"] = float_text(fusion.clamp.min);
  values["CLAMP_MAX"] = float_text(fusion.clamp.max);
  DRIFTSCOPE_TRY(const bool done,
                 lowering.emit_elements("conv_any", std::move(values), {in, weights_at, bias_at}, out,
                                        element_count(y_shape)));
  lowering.absorb(fusion);
  return done;
}

void add_to(GpuOperatorTable& table) { table.add("Conv", lower); }

}  // namespace driftscope::gpu::conv
