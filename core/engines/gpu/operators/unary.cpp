// Elementwise functions of one value, in whatever layout it has.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <numbers>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::gpu::unary {

// `expression` in x0.
Result<bool> place(GpuLowering& lowering, const Node& node, std::string expression) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y) || lowering.shape(x) != lowering.shape(y)) return false;
  const Layout layout = lowering.layout(x);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, layout);
  return lowering.emit_elementwise({std::move(expression), element_count(lowering.shape(x)), {}}, {in}, out);
}

Result<bool> lower_clamp(GpuLowering& lowering, const Node& node) {
  const auto clamp = lowering.clamp_of(node);
  if (!clamp) return false;
  if (clamp->max == std::numeric_limits<float>::infinity() && clamp->min == 0.0f)
    return place(lowering, node, "max(x0, T(0.0))");
  return place(lowering, node, clamped("x0", *clamp));
}

// An expression with the attribute `name` as {0}.
template <class Text>
Result<bool> with_attribute(GpuLowering& lowering, const Node& node, const char* name, float by_default,
                            const Text& text) {
  DRIFTSCOPE_TRY(const float value, float_attribute(node, name, by_default));
  return place(lowering, node, text(float_text(value)));
}

Result<bool> lower_elu(GpuLowering& lowering, const Node& node) {
  return with_attribute(lowering, node, "alpha", 1.0f, [](const std::string& alpha) {
    return fmt::format("select({} * (exp(x0) - T(1.0)), x0, is_at_least(x0, T(0.0)))", alpha);
  });
}

Result<bool> lower_leaky_relu(GpuLowering& lowering, const Node& node) {
  return with_attribute(lowering, node, "alpha", 0.01f, [](const std::string& alpha) {
    return fmt::format("select({} * x0, x0, is_at_least(x0, T(0.0)))", alpha);
  });
}

Result<bool> lower_thresholded_relu(GpuLowering& lowering, const Node& node) {
  return with_attribute(lowering, node, "alpha", 1.0f, [](const std::string& alpha) {
    return fmt::format("select(T(0.0), x0, is_less(T({}), x0))", alpha);
  });
}

Result<bool> lower_hard_sigmoid(GpuLowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 0.2f));
  DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", 0.5f));
  return place(lowering, node,
               fmt::format("clamp({} * x0 + T({}), T(0.0), T(1.0))", float_text(alpha), float_text(beta)));
}

template <const char* text>
Result<bool> lower(GpuLowering& lowering, const Node& node) {
  return place(lowering, node, text);
}

constexpr char abs_text[] = "abs(x0)";
constexpr char neg_text[] = "-x0";
constexpr char floor_text[] = "floor(x0)";
constexpr char ceil_text[] = "ceil(x0)";
constexpr char round_text[] = "round(x0)";
constexpr char sign_text[] = "sign(x0)";
constexpr char exp_text[] = "exp(x0)";
constexpr char log_text[] = "log(x0)";
constexpr char sqrt_text[] = "sqrt(x0)";
constexpr char reciprocal_text[] = "T(1.0) / x0";
constexpr char sigmoid_text[] = "sigmoid(x0)";
constexpr char tanh_text[] = "tanh_bounded(x0)";
constexpr char erf_text[] = "erf(x0)";
constexpr char softplus_text[] = "softplus(x0)";
constexpr char softsign_text[] = "x0 / (T(1.0) + abs(x0))";
constexpr char hard_swish_text[] = "x0 * clamp(x0 / 6.0 + T(0.5), T(0.0), T(1.0))";

void add_to(GpuOperatorTable& table) {
  table.add("Relu", lower_clamp);
  table.add("Clip", lower_clamp);
  table.add("Elu", lower_elu);
  table.add("LeakyRelu", lower_leaky_relu);
  table.add("ThresholdedRelu", lower_thresholded_relu);
  table.add("HardSigmoid", lower_hard_sigmoid);
  table.add("Abs", lower<abs_text>);
  table.add("Neg", lower<neg_text>);
  table.add("Floor", lower<floor_text>);
  table.add("Ceil", lower<ceil_text>);
  table.add("Round", lower<round_text>);
  table.add("Sign", lower<sign_text>);
  table.add("Exp", lower<exp_text>);
  table.add("Log", lower<log_text>);
  table.add("Sqrt", lower<sqrt_text>);
  table.add("Reciprocal", lower<reciprocal_text>);
  table.add("Sigmoid", lower<sigmoid_text>);
  table.add("Tanh", lower<tanh_text>);
  table.add("Erf", lower<erf_text>);
  table.add("Softplus", lower<softplus_text>);
  table.add("Softsign", lower<softsign_text>);
  table.add("HardSwish", lower<hard_swish_text>);
}

}  // namespace driftscope::gpu::unary
