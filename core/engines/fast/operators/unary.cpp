// Elementwise functions of one value, in whatever layout it has, in place where nothing else reads it.
// XNNPACK's logarithm is not among them: it uses the exponent's bits, and so returns finite numbers for
// infinity and NaN, and −∞ for subnormals.
#include <cmath>

#include "core/engines/fast/lowering.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::fast::unary {

Result<bool> place(Lowering& lowering, const Node& node, xnn_unary_operator kind,
                   const xnn_unary_params* params = nullptr) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y) || lowering.shape(x) != lowering.shape(y)) return false;
  xnn_operator_t raw = nullptr;
  if (xnn_create_unary_elementwise_nc(kind, xnn_datatype_fp32, xnn_datatype_fp32, params, nullptr, nullptr, 0,
                                      &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const std::int64_t elements = element_count(lowering.shape(x));
  const pthreadpool_t pool = lowering.pool_for(elements);
  if (xnn_reshape_unary_elementwise_nc(raw, static_cast<std::size_t>(elements), 1, 1, 1, pool) !=
      xnn_status_success)
    return false;
  const Layout layout = lowering.layout(x);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, layout);
  lowering.emit(
      std::move(op), pool, {in}, {out},
      [=](xnn_operator_t it, const Memory& memory) {
        return xnn_setup_unary_elementwise_nc(it, memory.address(in), memory.address(out));
      },
      in);
  return true;
}

template <xnn_unary_operator kind>
Result<bool> lower(Lowering& lowering, const Node& node) {
  return place(lowering, node, kind);
}

Result<bool> lower_clamp(Lowering& lowering, const Node& node) {
  const auto clamp = lowering.clamp_of(node);
  if (!clamp) return false;
  xnn_unary_params params;
  params.clamp = {clamp->min, clamp->max};
  return place(lowering, node, xnn_unary_clamp, &params);
}

Result<bool> lower_elu(Lowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
  xnn_unary_params params;
  params.elu.alpha = alpha;
  return place(lowering, node, xnn_unary_elu, &params);
}

Result<bool> lower_leaky_relu(Lowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 0.01f));
  if (!std::isfinite(alpha)) return false;
  xnn_unary_params params;
  params.leaky_relu.negative_slope = alpha;
  return place(lowering, node, xnn_unary_leaky_relu, &params);
}

Result<bool> lower_gelu(Lowering& lowering, const Node& node) {
  const auto form = string_attribute(node, "approximate", "none");
  if (!form.ok() || *form != "none") return false;
  return place(lowering, node, xnn_unary_gelu);
}

void add_to(FastOperatorTable& table) {
  table.add("Relu", lower_clamp);
  table.add("Clip", lower_clamp);
  table.add("Elu", lower_elu);
  table.add("LeakyRelu", lower_leaky_relu);
  table.add("Gelu", lower_gelu);
  table.add("Abs", lower<xnn_unary_abs>);
  table.add("Ceil", lower<xnn_unary_ceiling>);
  table.add("Exp", lower<xnn_unary_exp>);
  table.add("Floor", lower<xnn_unary_floor>);
  table.add("HardSwish", lower<xnn_unary_hardswish>);
  table.add("Neg", lower<xnn_unary_negate>);
  table.add("Round", lower<xnn_unary_bankers_rounding>);
  table.add("Sigmoid", lower<xnn_unary_sigmoid>);
  table.add("Sqrt", lower<xnn_unary_square_root>);
  table.add("Tanh", lower<xnn_unary_tanh>);
}

}  // namespace driftscope::fast::unary
