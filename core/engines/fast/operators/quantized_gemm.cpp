// QLinearMatMul, and Gemm or MatMul between DequantizeLinear and QuantizeLinear, with constant int8
// weights on XNNPACK's int8 fully connected operator.
#include "core/engines/fast/operators/quantized_gemm.hpp"

#include "core/graph/attributes.hpp"

namespace driftscope::fast::quantized_gemm {

struct Site {
  ValueId x = no_value;
  Quantization x_how;
  const Tensor* w = nullptr;  // int8, K×N, or N×K
  bool transposed = false;    // N×K
  std::vector<float> w_scales;
  std::vector<std::int32_t> bias;
  Quantization y_how;
  std::int32_t min = 0;
  std::int32_t max = 0;
  Fusion fusion;
};

// N×K, the elements of each row in the memory order of a row of x.
std::vector<std::int8_t> arranged(const Site& site, std::int64_t k, std::int64_t n, Layout layout) {
  const auto from = site.w->values<std::int8_t>();
  const Blocks blocks = blocks_of({1, k}, layout);
  std::vector<std::int8_t> result(static_cast<std::size_t>(n * k));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t place =
          layout.plain() ? i : i % blocks.channels * blocks.spatial + i / blocks.channels;
      result[static_cast<std::size_t>(j * k + i)] =
          from[static_cast<std::size_t>(site.transposed ? j * k + place : place * n + j)];
    }
  return result;
}

Result<bool> place(Lowering& lowering, Site site) {
  const auto shape = lowering.value(site.x).static_shape();
  const auto y_shape = lowering.value(site.fusion.output).static_shape();
  if (!shape || !y_shape || shape->size() < 2 || element_count(*y_shape) == 0 || element_count(*shape) == 0 ||
      site.w->rank() != 2 || site.x_how.scales.size() != 1)
    return false;
  const std::int64_t k = site.w->shape()[site.transposed ? 1 : 0];
  const std::int64_t n = site.w->shape()[site.transposed ? 0 : 1];
  if (site.w_scales.size() == 1) site.w_scales.resize(static_cast<std::size_t>(n), site.w_scales[0]);
  if (static_cast<std::int64_t>(site.w_scales.size()) != n || shape->back() != k) return false;
  const Layout layout = shape->size() == 2 ? lowering.layout(site.x) : Layout{};
  const std::vector<std::int8_t> weights = arranged(site, k, n, layout);
  const DType y_type = site.y_how.dtype;
  const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  xnn_operator_t raw = nullptr;
  if (xnn_create_fully_connected_nc_qs8_qc8w(
          size(k), size(n), size(k), size(n), as_int8(site.x_how.zero_point, site.x_how.dtype),
          site.x_how.scale(), site.w_scales.data(), weights.data(),
          site.bias.empty() ? nullptr : site.bias.data(), as_int8(site.y_how.zero_point, y_type),
          site.y_how.scale(), as_int8(site.min, y_type), as_int8(site.max, y_type), 0, nullptr, nullptr,
          &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const std::int64_t rows = element_count(*shape) / k;
  const pthreadpool_t pool = lowering.pool_for(rows * k * n / 2);
  if (xnn_reshape_fully_connected_nc_qs8_qc8w(raw, size(rows), pool) != xnn_status_success) return false;
  DRIFTSCOPE_TRY(const BufferId in, read_int8(lowering, site.x, layout));
  const Int8Output out = write_int8(lowering, site.fusion.output, {});
  lowering.emit(std::move(op), pool, {in}, {out.buffer},
                [=, to = out.buffer](xnn_operator_t it, const Memory& memory) {
                  return xnn_setup_fully_connected_nc_qs8_qc8w(it, memory.at<const std::int8_t>(in),
                                                               memory.at<std::int8_t>(to));
                });
  finish_int8(lowering, out);
  lowering.absorb(site.fusion);
  return true;
}

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
  return place(lowering, std::move(site));
}

void add_to(FastOperatorTable& table) { table.add("QLinearMatMul", lower); }

}  // namespace driftscope::fast::quantized_gemm

namespace driftscope::fast {

Result<bool> lower_product_between_quantized(Lowering& lowering, const Node& node) {
  const auto x = dequantized(lowering, node.inputs[0]);
  const auto w = dequantized(lowering, node.inputs[1]);
  const auto y = quantized_behind(lowering, node);
  if (!x || !w || !y) return false;
  const bool gemm = node.op_type == "Gemm";
  bool transposed = false;
  if (gemm) {
    DRIFTSCOPE_TRY(const std::int64_t trans_a, int_attribute(node, "transA", 0));
    DRIFTSCOPE_TRY(const std::int64_t trans_b, int_attribute(node, "transB", 0));
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
    DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", 1.0f));
    if (trans_a != 0 || alpha != 1.0f || beta != 1.0f) return false;
    transposed = trans_b != 0;
  }
  if (w->how.scales.size() > 1 && w->axis != (transposed ? 0 : 1)) return false;
  quantized_gemm::Site site{.x = x->source,
                            .x_how = x->how,
                            .w = int8_weights(lowering, w->source, w->how),
                            .transposed = transposed,
                            .w_scales = w->how.scales,
                            .bias = {},
                            .y_how = y->how,
                            .min = y->min,
                            .max = y->max,
                            .fusion = y->fusion};
  if (site.w == nullptr || site.w->rank() != 2) return false;
  site.w_scales.resize(static_cast<std::size_t>(site.w->shape()[transposed ? 0 : 1]), site.w_scales[0]);
  if (gemm && lowering.has_input(node, 2)) {
    auto bias = dequantized_bias(lowering, node.inputs[2], x->how.scale(), site.w_scales);
    if (!bias || bias->size() != site.w_scales.size()) return false;
    site.bias = *std::move(bias);
  }
  return quantized_gemm::place(lowering, std::move(site));
}

}  // namespace driftscope::fast
