// LayerNormalization, RMSNormalization and both behind a sum (com.microsoft), InstanceNormalization, and
// BatchNormalization with constant statistics.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <cmath>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::gpu::normalization {

// What a normalization of lanes reads, by number of its input; 0: it has none.
struct OfLanes {
  std::size_t scale = 1;
  std::size_t bias = 0;
  bool centered = true;
  bool sums = false;      // input and skip first; output 3 is the sum
  std::size_t more = 0;   // and that, of one lane
  float epsilon = 1e-5f;  // if not given
};

// x, skip, and the bias where there is one, in ONNX's order, into output 3 or memory of its own.
Result<BufferId> emit_sum(GpuLowering& lowering, const Node& node, const std::vector<ValueId>& summands) {
  const Shape y = lowering.shape(summands[0]);
  std::vector<BufferId> reads;
  std::vector<WalkAxis> axes;
  for (const std::int64_t size : y) axes.push_back({size, {}});
  bool all_whole = true;
  std::string text;
  for (const ValueId id : summands) {
    const Shape shape = lowering.shape(id);
    const auto strides = broadcast_strides(shape, y.size());
    for (std::size_t i = 0; i < y.size(); ++i) axes[i].strides.push_back(strides[i]);
    all_whole = all_whole && shape == y;
    text += fmt::format("{}x{}", text.empty() ? "" : " + ", reads.size());
    DRIFTSCOPE_TRY(reads.emplace_back(), lowering.read(id, {}));
  }
  const std::int64_t count = element_count(y);
  const bool wanted = node.outputs.size() > 3 && node.outputs[3] != no_value;
  const BufferId sum = wanted ? lowering.write(node.outputs[3], {})
                              : lowering.scratch(static_cast<std::size_t>(count) * sizeof(float));
  DRIFTSCOPE_TRY(const bool done,
                 lowering.emit_elementwise({text, count, all_whole ? std::vector<WalkAxis>() : joined(axes)},
                                           std::move(reads), sum));
  return done ? Result<BufferId>(sum) : internal_error("a sum was not taken");
}

Result<bool> lower_lanes(GpuLowering& lowering, const Node& node, const OfLanes& of) {
  const ValueId x = node.inputs[0];
  std::vector<ValueId> floats = {x, node.inputs[of.scale]};
  std::vector<ValueId> summands = {x};
  if (of.sums) summands.push_back(node.inputs[1]);
  if (of.more != 0 && lowering.has_input(node, of.more)) summands.push_back(node.inputs[of.more]);
  floats.insert(floats.end(), summands.begin(), summands.end());
  const bool has_bias = of.bias != 0 && lowering.has_input(node, of.bias);
  if (has_bias) floats.push_back(node.inputs[of.bias]);
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (i == 0 || (of.sums && i == 3 && node.outputs[i] != no_value))
      floats.push_back(node.outputs[i]);
    else if (node.outputs[i] != no_value)
      return false;  // Mean, InvStdDev
  for (const ValueId id : floats)
    if (id == no_value || !lowering.is_float(id)) return false;
  const Shape shape = lowering.shape(x);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(of.sums ? -1 : given, shape.size()));
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", of.epsilon));
  if (!std::isfinite(epsilon)) return false;  // the shader writes it as a number
  const Lanes lanes = Lanes::along(shape, axis, true);
  const auto fits = [&](std::size_t i) { return fits_lane(lowering.shape(node.inputs[i]), shape, axis); };
  if (!fits(of.scale) || (has_bias && !fits(of.bias)) || !lowering.lanes_fit(lanes)) return false;
  BufferId bias = no_buffer;
  if (has_bias) {
    DRIFTSCOPE_TRY(bias, lowering.read(node.inputs[of.bias], {}));
  } else {
    DRIFTSCOPE_TRY(Tensor zeros, Tensor::make(DType::float32, {lanes.size}, "a bias"));
    bias = lowering.keep(std::move(zeros));
  }
  DRIFTSCOPE_TRY(const BufferId scale, lowering.read(node.inputs[of.scale], {}));
  DRIFTSCOPE_TRY(const BufferId in, of.sums ? emit_sum(lowering, node, summands) : lowering.read(x, {}));
  const BufferId out = lowering.write(node.outputs[0], {});
  return lowering.emit_lanes(
      "normalize",
      {{"EPSILON", float_text(epsilon)}, {"CENTERED", of.centered ? 1 : 0}, {"SCALE_AT", std::string("l")}},
      lanes, {in, scale, bias}, out);
}

Result<bool> lower_layer(GpuLowering& lowering, const Node& node) {
  return lower_lanes(lowering, node, {.bias = 2});
}
Result<bool> lower_rms(GpuLowering& lowering, const Node& node) {
  return lower_lanes(lowering, node, {.centered = false});
}
Result<bool> lower_skip_layer(GpuLowering& lowering, const Node& node) {
  return lower_lanes(lowering, node, {.scale = 2, .bias = 3, .sums = true, .more = 4, .epsilon = 1e-12f});
}
Result<bool> lower_skip_rms(GpuLowering& lowering, const Node& node) {
  return lower_lanes(lowering, node,
                     {.scale = 2, .centered = false, .sums = true, .more = 3, .epsilon = 1e-12f});
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
      "normalize",
      {{"EPSILON", float_text(epsilon)}, {"CENTERED", 1}, {"SCALE_AT", fmt::format("lane % {}", shape[1])}},
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
  table.add("RMSNormalization", lower_rms);
  table.add("SimplifiedLayerNormalization", lower_rms);
  table.add("com.microsoft.SkipLayerNormalization", lower_skip_layer);
  table.add("com.microsoft.SkipSimplifiedLayerNormalization", lower_skip_rms);
  table.add("InstanceNormalization", lower_instance);
  table.add("BatchNormalization", lower_batch);
}

}  // namespace driftscope::gpu::normalization
