// ConvTranspose in one and two dimensions with constant weights: XNNPACK's deconvolution on NHWC.
#include <algorithm>

#include "core/engines/fast/lowering.hpp"
#include "core/ops/shared/convolution.hpp"

namespace driftscope::fast::conv_transpose {

// I×(O per group)×(taps) → groups×(O per group)×(taps)×(I per group).
std::vector<float> outputs_outermost(const Tensor& w, std::int64_t groups) {
  const std::int64_t inputs = w.shape()[0] / groups;
  const std::int64_t outputs = w.shape()[1];
  const std::int64_t taps = w.elements() / (w.shape()[0] * outputs);
  const float* from = w.values<float>().data();
  std::vector<float> result(static_cast<std::size_t>(w.elements()));
  std::size_t at = 0;
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        for (std::int64_t i = 0; i < inputs; ++i)
          result[at++] = from[((g * inputs + i) * outputs + o) * taps + tap];
  return result;
}

// One spatial axis; a missing one is of size 1.
struct Axis {
  std::int64_t input = 1, kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
  std::int64_t adjustment = 0;  // rows that XNNPACK adds at the end: output_padding
};

std::optional<Axis> axis_of(const WindowAttributes& window, std::size_t i, std::int64_t input,
                            std::int64_t output) {
  Axis axis{input,
            window.kernel[i],
            window.strides[i],
            window.dilations[i],
            window.pads[i],
            window.pads[i + window.kernel.size()]};
  axis.adjustment = output - ((input - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 -
                              axis.pad_begin - axis.pad_end);
  if (axis.adjustment < 0 || axis.adjustment >= axis.stride) return std::nullopt;
  return axis;
}

Result<bool> lower(Lowering& lowering, const Node& node) {
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
  const auto window = read_window(node, Ints(w->shape().begin() + 2, w->shape().end()));
  const auto group = read_group(node);
  if (in_shape.size() < 3 || in_shape.size() > 4 || !window.ok() || !group.ok() ||
      window->auto_pad != AutoPad::notset || node.attribute("output_shape") != nullptr)
    return false;
  const std::size_t last = in_shape.size() - 3;
  const auto v = axis_of(*window, last, in_shape.back(), out_shape.back());
  const auto h = last == 0 ? std::optional<Axis>(Axis{}) : axis_of(*window, 0, in_shape[2], out_shape[2]);
  if (!v || !h) return false;

  const Fusion fusion = lowering.with_activation(node);
  const std::vector<float> weights = outputs_outermost(*w, *group);
  const auto u32 = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  xnn_operator_t raw = nullptr;
  if (xnn_create_deconvolution2d_nhwc_f32(
          u32(h->pad_begin), u32(v->pad_end), u32(h->pad_end), u32(v->pad_begin), u32(h->kernel),
          u32(v->kernel), u32(h->stride), u32(v->stride), u32(h->dilation), u32(v->dilation), u32(*group),
          size(in_shape[1] / *group), size(w->shape()[1]), size(in_shape[1]), size(out_shape[1]),
          weights.data(), b == nullptr ? nullptr : b->values<float>().data(), fusion.clamp.min,
          fusion.clamp.max, 0, nullptr, nullptr, &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const pthreadpool_t pool = lowering.pool_for(element_count(in_shape) / in_shape[1] * w->elements());
  std::size_t height = 0;
  std::size_t width = 0;
  if (xnn_reshape_deconvolution2d_nhwc_f32(raw, size(in_shape[0]), size(h->input), size(v->input),
                                           u32(h->adjustment), u32(v->adjustment), &height, &width,
                                           pool) != xnn_status_success ||
      width != size(out_shape.back()) ||
      height * width != size(blocks_of(out_shape, channels_last(out_shape)).spatial))
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, channels_last(in_shape)));
  const BufferId out = lowering.write(fusion.output, channels_last(out_shape));
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return xnn_setup_deconvolution2d_nhwc_f32(it, memory.at<const float>(in), memory.at<float>(out));
  });
  lowering.absorb(fusion);
  return true;
}

void add_to(FastOperatorTable& table) { table.add("ConvTranspose", lower); }

}  // namespace driftscope::fast::conv_transpose
