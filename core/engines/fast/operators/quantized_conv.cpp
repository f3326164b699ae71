// QLinearConv, and Conv between DequantizeLinear and QuantizeLinear, with one scale for each output channel,
// by rows of the window or on XNNPACK's int8 convolution: in both the sums are exact, their scaling is
// rounded to nearest even once.
#include "core/engines/fast/operators/quantized_conv.hpp"

#include "core/engines/fast/int8_row_step.hpp"
#include "core/lowering/window2d.hpp"
#include "core/ops/shared/convolution.hpp"

namespace driftscope::fast::quantized_conv {

struct Site {
  ValueId x = no_value;
  Quantization x_how;
  const Tensor* w = nullptr;  // int8, O×I×(taps)
  std::vector<float> w_scales;
  std::vector<std::int32_t> bias;
  Quantization y_how;
  std::int32_t min = 0;
  std::int32_t max = 0;
  Fusion fusion;
};

Result<bool> place_by_rows(Lowering& lowering, const Site& site, const RowWindow& window) {
  Int8Conv conv{.x = site.x,
                .window = window,
                .w = site.w,
                .bias = site.bias,
                .scales = site.w_scales,
                .x_form = {site.x_how.dtype == DType::int8, site.x_how.zero_point},
                .y_form = {{site.y_how.dtype == DType::int8, site.y_how.zero_point}, site.min, site.max},
                .y = site.fusion.output};
  for (float& scale : conv.scales) scale = site.x_how.scale() * scale / site.y_how.scale();
  DRIFTSCOPE_TRY(const bool placed, place_int8_rows(lowering, conv));
  if (placed) lowering.absorb(site.fusion);
  return placed;
}

Result<bool> place(Lowering& lowering, const Node& node, Site site) {
  const auto shape = lowering.value(site.x).static_shape();
  const auto y_shape = lowering.value(site.fusion.output).static_shape();
  const auto group = read_group(node);
  const std::int64_t outputs = site.w->shape()[0];
  if (!shape || !y_shape || element_count(*shape) == 0 || element_count(*y_shape) == 0 || !group.ok() ||
      site.x_how.scales.size() != 1)
    return false;
  const auto window = window2d(node, *shape, site.w->shape());
  if (!window) return false;
  if (site.w_scales.size() == 1) site.w_scales.resize(static_cast<std::size_t>(outputs), site.w_scales[0]);
  if (static_cast<std::int64_t>(site.w_scales.size()) != outputs) return false;
  if (const RowWindow rows{(*shape)[0], (*shape)[1], *window};
      is_int8_row_convolution(rows, *group) && int8_rows_pay(rows, int8_row_kernels(lowering.simd()))) {
    DRIFTSCOPE_TRY(const bool placed, place_by_rows(lowering, site, rows));
    if (placed) return true;
  }
  DRIFTSCOPE_TRY(Tensor weights, Tensor::unwritten(DType::int8, site.w->shape(), "weights"));
  DRIFTSCOPE_CHECK(reorder(site.w->shape(), 1, {}, site.w->bytes().data(), channels_last(site.w->shape()),
                           weights.mutable_bytes().data()));
  const auto u32 = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const WindowAxis& h = window->height;
  const WindowAxis& v = window->width;
  const DType y_type = site.y_how.dtype;
  xnn_operator_t raw = nullptr;
  if (xnn_create_convolution2d_nhwc_qs8_qc8w(
          u32(h.pad_begin), u32(v.pad_end), u32(h.pad_end), u32(v.pad_begin), u32(h.kernel), u32(v.kernel),
          u32(h.stride), u32(v.stride), u32(h.dilation), u32(v.dilation), u32(*group),
          size(site.w->shape()[1]), size(outputs / *group), size((*shape)[1]), size(outputs),
          as_int8(site.x_how.zero_point, site.x_how.dtype), site.x_how.scale(), site.w_scales.data(),
          weights.values<std::int8_t>().data(), site.bias.empty() ? nullptr : site.bias.data(),
          as_int8(site.y_how.zero_point, y_type), site.y_how.scale(), as_int8(site.min, y_type),
          as_int8(site.max, y_type), 0, nullptr, nullptr, &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const pthreadpool_t pool = lowering.pool_for(element_count(*y_shape) * (site.w->elements() / outputs) / 2);
  std::size_t workspace_bytes = 0;
  std::size_t alignment = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  if (xnn_reshape_convolution2d_nhwc_qs8_qc8w(raw, size((*shape)[0]), size(h.input), size(v.input),
                                              &workspace_bytes, &alignment, &height, &width,
                                              pool) != xnn_status_success ||
      height != size(h.output) || width != size(v.output))
    return false;
  DRIFTSCOPE_TRY(const BufferId in, read_int8(lowering, site.x, channels_last(*shape)));
  const Int8Output out = write_int8(lowering, site.fusion.output, channels_last(*y_shape));
  const BufferId workspace = lowering.scratch(workspace_bytes);
  lowering.emit(std::move(op), pool, {in}, {out.buffer, workspace},
                [=, to = out.buffer](xnn_operator_t it, const Memory& memory) {
                  return xnn_setup_convolution2d_nhwc_qs8_qc8w(it, memory.address(workspace),
                                                               memory.at<const std::int8_t>(in),
                                                               memory.at<std::int8_t>(to));
                });
  finish_int8(lowering, out);
  lowering.absorb(site.fusion);
  return true;
}

}  // namespace driftscope::fast::quantized_conv

namespace driftscope::fast {

Result<bool> lower_between_quantized(Lowering& lowering, const Node& node) {
  const auto x = dequantized(lowering, node.inputs[0]);
  const auto w = dequantized(lowering, node.inputs[1]);
  const auto y = quantized_behind(lowering, node);
  if (!x || !w || !y || (w->how.scales.size() > 1 && w->axis != 0)) return false;
  quantized_conv::Site site{.x = x->source,
                            .x_how = x->how,
                            .w = int8_weights(lowering, w->source, w->how),
                            .w_scales = w->how.scales,
                            .bias = {},
                            .y_how = y->how,
                            .min = y->min,
                            .max = y->max,
                            .fusion = y->fusion};
  if (site.w == nullptr) return false;
  site.w_scales.resize(static_cast<std::size_t>(site.w->shape()[0]), site.w_scales[0]);
  if (lowering.has_input(node, 2)) {
    auto bias = dequantized_bias(lowering, node.inputs[2], x->how.scale(), site.w_scales);
    if (!bias || bias->size() != site.w_scales.size()) return false;
    site.bias = *std::move(bias);
  }
  return quantized_conv::place(lowering, node, std::move(site));
}

namespace quantized_conv {

Result<bool> lower(Lowering& lowering, const Node& node) {
  const auto x =
      quantization_of(lowering, node.inputs[1], node.inputs[2], lowering.value(node.inputs[0]).dtype);
  const auto w =
      quantization_of(lowering, node.inputs[4], node.inputs[5], lowering.value(node.inputs[3]).dtype);
  const auto y =
      quantization_of(lowering, node.inputs[6], node.inputs[7], lowering.value(node.outputs[0]).dtype);
  if (!x || !w || !y || y->scales.size() != 1) return false;
  Site site{.x = node.inputs[0],
            .x_how = *x,
            .w = int8_weights(lowering, node.inputs[3], *w),
            .w_scales = w->scales,
            .bias = {},
            .y_how = *y,
            .min = min_of(y->dtype),
            .max = max_of(y->dtype),
            .fusion = {}};
  site.fusion.output = node.outputs[0];
  if (site.w == nullptr) return false;
  if (lowering.has_input(node, 8)) {
    const Tensor* bias = lowering.constant(node.inputs[8]);
    if (bias == nullptr || bias->dtype() != DType::int32) return false;
    const auto values = bias->values<std::int32_t>();
    site.bias.assign(values.begin(), values.end());
  }
  return place(lowering, node, std::move(site));
}

void add_to(FastOperatorTable& table) { table.add("QLinearConv", lower); }

}  // namespace quantized_conv
}  // namespace driftscope::fast
