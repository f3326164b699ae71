// QLinearConv and ConvInteger with constant weights whose sums float32 holds exactly: the convolution of x
// less its zero point, for which padding is 0, on the kernels of Conv.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/convolve.hpp"
#include "core/engines/gpu/integers.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/lowering/numbers.hpp"

namespace driftscope::gpu::integer_conv {

/// The inputs by their numbers; `none` where the operator has no such.
struct Inputs {
  std::size_t w = 1;
  std::size_t x_zero = 2;
  std::size_t w_zero = 3;
  std::size_t bias = none;
  static constexpr std::size_t none = 99;
};

struct Convolution {
  Tensor weights;  ///< less their zero points
  std::vector<float> bias;
  ZeroPoint x_zero;
  ConvParts parts;
};

Result<Tensor> weights_less_zeros(const Tensor& w, const std::vector<float>& zeros) {
  DRIFTSCOPE_TRY(Tensor weights, as_float32(w));
  const std::span<float> numbers = weights.mutable_values<float>();
  const std::size_t each = numbers.size() / static_cast<std::size_t>(w.shape()[0]);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] -= zeros[zeros.size() == 1 ? 0 : i / each];
  return weights;
}

// Whether the device can do it, exactly; then all of it is in `it`.
Result<bool> prepare(const GpuLowering& lowering, const Node& node, const Inputs& inputs, Convolution& it) {
  const ValueId x = node.inputs[0];
  const Tensor* const w = lowering.constant(node.inputs[inputs.w]);
  if (w == nullptr || !lowering.is_byte(x) || !lowering.is_byte(node.inputs[inputs.w]) ||
      !lowering.can_be_number(node.outputs[0]))
    return false;
  const std::int64_t outputs = w->shape()[0];
  if (!fits_as_floats(lowering, w->elements() / outputs, outputs)) return false;
  const auto x_zero = zero_point(lowering, node, inputs.x_zero, lowering.value(x).dtype);
  const auto w_zeros = constant_numbers(lowering, node, inputs.w_zero, outputs);
  if (!x_zero || !w_zeros) return false;
  it.x_zero = *x_zero;
  if (inputs.bias != Inputs::none && lowering.has_input(node, inputs.bias)) {
    const auto bias = constant_numbers(lowering, node, inputs.bias, outputs);
    if (!bias) return false;
    it.bias = *bias;
    if (it.bias.size() == 1) it.bias.resize(static_cast<std::size_t>(outputs), it.bias[0]);
  }
  DRIFTSCOPE_TRY(it.weights, weights_less_zeros(*w, *w_zeros));
  const auto parts = conv_parts(node, lowering.shape(x), it.weights, it.bias);
  if (!parts || !can_convolve(lowering, *parts)) return false;
  it.parts = *parts;
  const std::int64_t depth = parts->taps * parts->channels;
  const std::span<const float> numbers = it.weights.values<float>();
  return sums_are_exact(
      outputs, depth,
      [&](std::int64_t o, std::int64_t i) { return numbers[static_cast<std::size_t>(o * depth + i)]; },
      reach_of(lowering.value(x).dtype, it.x_zero), it.bias);
}

Result<bool> convolve(GpuLowering& lowering, const Node& node, const Convolution& it, BufferId out) {
  const ValueId x = node.inputs[0];
  PlacedConv placed{.parts = it.parts, .out = out};
  placed.pixels = element_count(lowering.shape(node.outputs[0])) / it.parts.outputs;
  DRIFTSCOPE_TRY(placed.in, read_less_zero(lowering, x, it.x_zero, channels_last(lowering.shape(x))));
  return emit_convolution(lowering, placed);
}

Result<bool> lower_integer(GpuLowering& lowering, const Node& node) {
  Convolution it;
  DRIFTSCOPE_TRY(const bool can, prepare(lowering, node, {}, it));
  if (!can) return false;
  const ValueId y = node.outputs[0];
  return convolve(lowering, node, it, lowering.write(y, channels_last(lowering.shape(y))));
}

Result<bool> lower_qlinear(GpuLowering& lowering, const Node& node) {
  Convolution it;
  DRIFTSCOPE_TRY(const bool can, prepare(lowering, node, {.w = 3, .x_zero = 2, .w_zero = 5, .bias = 8}, it));
  if (!can) return false;
  const ValueId y = node.outputs[0];
  const auto x_scale = constant_scales(lowering, node, 1, 1);
  const auto w_scales = constant_scales(lowering, node, 4, it.parts.outputs);
  const auto y_scale = constant_scales(lowering, node, 6, 1);
  const auto y_zero = constant_numbers(lowering, node, 7, 1);
  if (!x_scale || !w_scales || !y_scale || !y_zero || !lowering.is_byte(y)) return false;
  const Shape shape = lowering.shape(y);
  const BufferId sums = lowering.scratch_value(shape, channels_last(shape));
  DRIFTSCOPE_TRY(const bool convolved, convolve(lowering, node, it, sums));
  Requantization how{*w_scales, (*y_zero)[0], lowering.value(y).dtype};
  for (float& scale : how.multipliers) scale = (*x_scale)[0] * scale / (*y_scale)[0];
  const std::int64_t outputs = it.parts.outputs;
  const Spread spread{element_count(shape) / outputs, outputs, 1};
  DRIFTSCOPE_TRY(const bool done,
                 emit_requantized(lowering, sums, how, spread, lowering.write(y, channels_last(shape))));
  return convolved && done;
}

void add_to(GpuOperatorTable& table) {
  table.add("ConvInteger", lower_integer);
  table.add("QLinearConv", lower_qlinear);
}

}  // namespace driftscope::gpu::integer_conv
