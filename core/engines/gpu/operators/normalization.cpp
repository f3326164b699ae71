// LayerNormalization, InstanceNormalization, and BatchNormalization with constant statistics.
#include <fmt/format.h>

#include <cmath>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::gpu::normalization {

Result<bool> lower_layer(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.inputs[1]) || !lowering.is_float(node.outputs[0]))
    return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return false;  // Mean, InvStdDev
  const Shape shape = lowering.shape(x);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  if (!std::isfinite(epsilon)) return false;  // the shader writes it as a number
  const Lanes lanes = Lanes::along(shape, axis, true);
  if (!fits_lane(lowering.shape(node.inputs[1]), shape, axis) || !lowering.lanes_fit(lanes)) return false;
  BufferId bias = no_buffer;
  if (lowering.has_input(node, 2)) {
    if (!lowering.is_float(node.inputs[2]) || !fits_lane(lowering.shape(node.inputs[2]), shape, axis))
      return false;
    DRIFTSCOPE_TRY(bias, lowering.read(node.inputs[2], {}));
  } else {
    DRIFTSCOPE_TRY(Tensor zeros, Tensor::make(DType::float32, {lanes.size}, "a bias"));
    bias = lowering.keep(std::move(zeros));
  }
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, {}));
  DRIFTSCOPE_TRY(const BufferId scale, lowering.read(node.inputs[1], {}));
  const BufferId out = lowering.write(node.outputs[0], {});
  return lowering.emit_lanes("normalize", {{"EPSILON", float_text(epsilon)}, {"SCALE_AT", std::string("l")}},
                             lanes, {in, scale, bias}, out);
}

Result<bool> lower_instance(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.inputs[1]) || !lowering.is_float(node.inputs[2]) ||
      !lowering.is_float(node.outputs[0]))
    return false;
  const Shape shape = lowering.shape(x);
  if (shape.size() < 3) return false;
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  if (!std::isfinite(epsilon)) return false;
  const Lanes lanes = Lanes::along(shape, 2, true);
  if (!lowering.lanes_fit(lanes)) return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, {}));
  DRIFTSCOPE_TRY(const BufferId scale, lowering.read(node.inputs[1], {}));
  DRIFTSCOPE_TRY(const BufferId bias, lowering.read(node.inputs[2], {}));
  const BufferId out = lowering.write(node.outputs[0], {});
  return lowering.emit_lanes(
      "normalize", {{"EPSILON", float_text(epsilon)}, {"SCALE_AT", fmt::format("lane % {}", shape[1])}},
      lanes, {in, scale, bias}, out);
}

// As x·a + b with one a and b for each channel.
Result<bool> lower_batch(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return false;
  const Shape shape = lowering.shape(x);
  if (shape.size() < 2) return false;
  const std::int64_t channels = shape[1];
  std::array<std::span<const float>, 4> given;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor* tensor = lowering.constant(node.inputs[i + 1]);
    if (tensor == nullptr || tensor->dtype() != DType::float32 || tensor->elements() != channels)
      return false;
    given[i] = tensor->values<float>();
  }
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  DRIFTSCOPE_TRY(Tensor factor, Tensor::make(DType::float32, {channels}, "a scale"));
  DRIFTSCOPE_TRY(Tensor shift, Tensor::make(DType::float32, {channels}, "a shift"));
  for (std::size_t c = 0; c < given[0].size(); ++c) {
    factor.mutable_values<float>()[c] = given[0][c] / std::sqrt(given[3][c] + epsilon);
    shift.mutable_values<float>()[c] = given[1][c] - given[2][c] * factor.values<float>()[c];
  }
  const Fusion fusion = lowering.with_activation(node);
  Layout layout = lowering.layout(x);
  const bool images = shape.size() > 2 && layout == channels_last(shape);
  if (!images) layout = {};
  std::string text = "x0 * x1 + x2";
  if (!fusion.nodes.empty()) text = clamped(text, fusion.clamp);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(fusion.output, layout);
  const BufferId factors = lowering.keep(std::move(factor));
  const BufferId shifts = lowering.keep(std::move(shift));
  const std::int64_t pixels = element_count(shape) / shape[0] / channels;
  std::vector<WalkAxis> axes;
  if (images)
    axes = {{shape[0] * pixels, {channels, 0, 0}}, {channels, {1, 1, 1}}};
  else
    axes = {{shape[0], {channels * pixels, 0, 0}}, {channels, {pixels, 1, 1}}, {pixels, {1, 0, 0}}};
  DRIFTSCOPE_TRY(const bool done, lowering.emit_elementwise({text, element_count(shape), joined(axes)},
                                                            {in, factors, shifts}, out));
  lowering.absorb(fusion);
  return done;
}

void add_to(GpuOperatorTable& table) {
  table.add("LayerNormalization", lower_layer);
  table.add("InstanceNormalization", lower_instance);
  table.add("BatchNormalization", lower_batch);
}

}  // namespace driftscope::gpu::normalization
