// Elementwise functions of one value, in whatever layout it has.
#include <fmt/format.h>

#include <numbers>

#include "core/engines/webgpu/lowering.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::webgpu::unary {

Result<bool> place(Lowering& lowering, const Node& node, std::string expression, bool functions = false) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y) || lowering.shape(x) != lowering.shape(y)) return false;
  const Layout layout = lowering.layout(x);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, layout);
  return lowering.emit_flat("webgpu/elementwise.wgsl",
                            {{"TYPE", std::string("vec4f")},
                             {"INPUTS", 1},
                             {"FUNCTIONS", functions ? 1 : 0},
                             {"LOADS", std::string("  let x = in0[i];")},
                             {"EXPRESSION", std::move(expression)}},
                            {in}, out, (element_count(lowering.shape(x)) + 3) / 4);
}

Result<bool> lower_clamp(Lowering& lowering, const Node& node) {
  const auto clamp = lowering.clamp_of(node);
  if (!clamp) return false;
  if (clamp->max == std::numeric_limits<float>::infinity() && clamp->min == 0.0f)
    return place(lowering, node, "max(x, T())");
  return place(lowering, node,
               fmt::format("clamp(x, T({}), T({}))", float_text(clamp->min), float_text(clamp->max)));
}

// An expression with the attribute `name` as {0}.
template <class Text>
Result<bool> with_attribute(Lowering& lowering, const Node& node, const char* name, float by_default,
                            const Text& text) {
  DRIFTSCOPE_TRY(const float value, float_attribute(node, name, by_default));
  return place(lowering, node, text(float_text(value)), true);
}

Result<bool> lower_elu(Lowering& lowering, const Node& node) {
  return with_attribute(lowering, node, "alpha", 1.0f, [](const std::string& alpha) {
    return fmt::format("select({} * (exp(x) - T(1.0)), x, x >= T())", alpha);
  });
}

Result<bool> lower_leaky_relu(Lowering& lowering, const Node& node) {
  return with_attribute(lowering, node, "alpha", 0.01f, [](const std::string& alpha) {
    return fmt::format("select({} * x, x, x >= T())", alpha);
  });
}

Result<bool> lower_thresholded_relu(Lowering& lowering, const Node& node) {
  return with_attribute(lowering, node, "alpha", 1.0f, [](const std::string& alpha) {
    return fmt::format("select(T(), x, x > T({}))", alpha);
  });
}

Result<bool> lower_hard_sigmoid(Lowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 0.2f));
  DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", 0.5f));
  return place(lowering, node,
               fmt::format("clamp({} * x + T({}), T(), T(1.0))", float_text(alpha), float_text(beta)));
}

Result<bool> lower_gelu(Lowering& lowering, const Node& node) {
  const auto form = string_attribute(node, "approximate", "none");
  if (!form.ok() || *form != "none") return false;
  return place(lowering, node, "0.5 * x * (T(1.0) + erf(x * 0.70710678))", true);
}

template <const char* text>
Result<bool> lower(Lowering& lowering, const Node& node) {
  return place(lowering, node, text, true);
}

constexpr char abs_text[] = "abs(x)";
constexpr char neg_text[] = "-x";
constexpr char floor_text[] = "floor(x)";
constexpr char ceil_text[] = "ceil(x)";
constexpr char round_text[] = "round(x)";
constexpr char sign_text[] = "sign(x)";
constexpr char exp_text[] = "exp(x)";
constexpr char log_text[] = "log(x)";
constexpr char sqrt_text[] = "sqrt(x)";
constexpr char reciprocal_text[] = "T(1.0) / x";
constexpr char sigmoid_text[] = "sigmoid(x)";
constexpr char tanh_text[] = "tanh_bounded(x)";
constexpr char erf_text[] = "erf(x)";
constexpr char softplus_text[] = "softplus(x)";
constexpr char softsign_text[] = "x / (T(1.0) + abs(x))";
constexpr char hard_swish_text[] = "x * clamp(x / 6.0 + T(0.5), T(), T(1.0))";

void add_to(WebGpuOperatorTable& table) {
  table.add("Relu", lower_clamp);
  table.add("Clip", lower_clamp);
  table.add("Elu", lower_elu);
  table.add("LeakyRelu", lower_leaky_relu);
  table.add("ThresholdedRelu", lower_thresholded_relu);
  table.add("HardSigmoid", lower_hard_sigmoid);
  table.add("Gelu", lower_gelu);
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

}  // namespace driftscope::webgpu::unary
