// ConvTranspose in one and two dimensions with constant weights, in any number of groups.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/transposed_window.hpp"

namespace driftscope::gpu::conv_transpose {

// I×(O per group)×(taps) → O×(taps)×(I per group).
Result<Tensor> outputs_outermost(const Tensor& w, std::int64_t groups) {
  const std::int64_t inputs = w.shape()[0] / groups;
  const std::int64_t outputs = w.shape()[1];
  const std::int64_t taps = w.elements() / (w.shape()[0] * outputs);
  const float* from = w.values<float>().data();
  DRIFTSCOPE_TRY(Tensor packed, Tensor::make(DType::float32, {w.elements()}, "weights"));
  float* to = packed.mutable_values<float>().data();
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        for (std::int64_t i = 0; i < inputs; ++i) *to++ = from[((g * inputs + i) * outputs + o) * taps + tap];
  return packed;
}

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const Tensor* w = lowering.constant(node.inputs[1]);
  if (w == nullptr || w->dtype() != DType::float32 || w->elements() == 0 || !lowering.is_float(x) ||
      !lowering.is_float(node.outputs[0]))
    return false;
  const Tensor* b = nullptr;
  if (lowering.has_input(node, 2)) {
    b = lowering.constant(node.inputs[2]);
    if (b == nullptr || b->dtype() != DType::float32) return false;
  }
  const Shape in_shape = lowering.shape(x);
  const Shape out_shape = lowering.shape(node.outputs[0]);
  const auto group = read_group(node);
  if (in_shape.size() < 3 || in_shape.size() > 4 || !group.ok()) return false;
  const auto axes =
      place_transposed(node, Ints(w->shape().begin() + 2, w->shape().end()), std::span(in_shape).subspan(2));
  if (!axes.ok()) return false;
  const TransposedAxis v = axes->back();
  const TransposedAxis h = in_shape.size() == 4 ? axes->front() : TransposedAxis{.input = 1, .output = 1};
  if (h.output * v.output != blocks_of(out_shape, channels_last(out_shape)).spatial) return false;

  if (!lowering.may_loop(h.kernel * v.kernel * (in_shape[1] / *group + 1))) return false;
  const Fusion fusion = lowering.with_activation(node);
  DRIFTSCOPE_TRY(Tensor weights, outputs_outermost(*w, *group));
  DRIFTSCOPE_TRY(Tensor bias, Tensor::make(DType::float32, {out_shape[1]}, "a bias"));
  if (b != nullptr) std::ranges::copy(b->values<float>(), bias.mutable_values<float>().begin());
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(in_shape)));
  const BufferId out = lowering.write(fusion.output, channels_last(out_shape));
  const BufferId weights_at = lowering.keep(std::move(weights));
  const BufferId bias_at = lowering.keep(std::move(bias));
  ShaderValues values = {{"OUTPUTS", out_shape[1]},  {"GROUPS", *group},     {"CG", in_shape[1] / *group},
                         {"IN_H", h.input},          {"IN_W", v.input},      {"OUT_H", h.output},
                         {"OUT_W", v.output},        {"KERNEL_H", h.kernel}, {"KERNEL_W", v.kernel},
                         {"STRIDE_Y", h.stride},     {"STRIDE_X", v.stride}, {"DILATION_Y", h.dilation},
                         {"DILATION_X", v.dilation}, {"PAD_Y", h.pad},       {"PAD_X", v.pad}};
  add_clamp(values, fusion.clamp);
  DRIFTSCOPE_TRY(const bool done,
                 lowering.emit_elements("conv_transpose", std::move(values), {in, weights_at, bias_at}, out,
                                        element_count(out_shape)));
  lowering.absorb(fusion);
  return done;
}

void add_to(GpuOperatorTable& table) { table.add("ConvTranspose", lower); }

}  // namespace driftscope::gpu::conv_transpose
