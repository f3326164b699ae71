// Elementwise functions of several values, with broadcasting, and the activations of language models, which
// may have a bias.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <cmath>

#include "core/engines/gpu/broadcast.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::gpu::nary {

// `expression` in x0, x1, …
Result<bool> place(GpuLowering& lowering, const Node& node, std::string expression, const Fusion& fusion) {
  if (node.inputs.size() > lowering.max_inputs()) return false;
  const auto plan = plan_broadcast(lowering, node, fusion.output);
  if (!plan) return false;
  std::vector<BufferId> reads;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    DRIFTSCOPE_TRY(const BufferId buffer, lowering.read_number(node.inputs[i], plan->operands[i]));
    reads.push_back(buffer);
  }
  if (!fusion.nodes.empty()) expression = clamped(expression, fusion.clamp);
  const std::int64_t count = element_count(lowering.shape(fusion.output));
  const BufferId out = lowering.write(fusion.output, plan->layout);
  const std::vector<WalkAxis> axes = plan->all_whole ? std::vector<WalkAxis>() : plan->axes;
  DRIFTSCOPE_TRY(const bool done,
                 lowering.emit_elementwise({std::move(expression), count, axes}, std::move(reads), out));
  lowering.absorb(fusion);
  return done;
}

Fusion alone(const Node& node) { return {.output = node.outputs[0], .nodes = {}, .clamp = {}}; }

Result<bool> lower_prelu(GpuLowering& lowering, const Node& node) {
  if (node.inputs.size() != 2 || node.opset < 7) return false;
  return place(lowering, node, "select(x0 * x1, x0, is_at_least(x0, T(0.0)))", alone(node));
}

template <const char* text>
Result<bool> lower_binary(GpuLowering& lowering, const Node& node) {
  if (node.inputs.size() != 2) return false;
  return place(lowering, node, text, alone(node));
}

Result<bool> lower_add(GpuLowering& lowering, const Node& node) {
  if (node.inputs.size() != 2 || !lowering.is_float(node.outputs[0])) return false;
  return place(lowering, node, "x0 + x1", lowering.with_activation(node));
}

Result<bool> lower_where(GpuLowering& lowering, const Node& node) {
  return place(lowering, node, "select(x1, x2, is_equal(x0, T(0.0)))", alone(node));
}

// a, then by each further one `between`, in the order of the inputs.
Result<bool> fold(GpuLowering& lowering, const Node& node, const char* open, const char* between,
                  const char* close) {
  std::string text = "x0";
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    text = fmt::format("{}{}{}x{}{}", open, text, between, i, close);
  return place(lowering, node, text, alone(node));
}

Result<bool> lower_max(GpuLowering& lowering, const Node& node) {
  return fold(lowering, node, "max(", ", ", ")");
}
Result<bool> lower_min(GpuLowering& lowering, const Node& node) {
  return fold(lowering, node, "min(", ", ", ")");
}
Result<bool> lower_sum(GpuLowering& lowering, const Node& node) {
  return fold(lowering, node, "(", " + ", ")");
}

// Of the sum of its inputs: x, or x and a bias.
Result<bool> place_gelu(GpuLowering& lowering, const Node& node, bool through_tanh) {
  const char* const text = through_tanh
                               ? "0.5 * {0} * (T(1.0) + tanh_bounded(0.79788456 * ({0} + 0.044715 * {0} * "
                                 "{0} * {0})))"
                               : "0.5 * {0} * (T(1.0) + erf({0} * 0.70710678))";
  return place(lowering, node, fmt::format(fmt::runtime(text), node.inputs.size() > 1 ? "(x0 + x1)" : "x0"),
               alone(node));
}

Result<bool> lower_gelu(GpuLowering& lowering, const Node& node) {
  const auto form = string_attribute(node, "approximate", "none");
  if (!form.ok()) return false;
  return place_gelu(lowering, node, node.domain.empty() && *form == "tanh");
}

template <bool through_tanh>
Result<bool> lower_contrib_gelu(GpuLowering& lowering, const Node& node) {
  return place_gelu(lowering, node, through_tanh);
}

// x0 · σ(alpha · x0), times x1 where there is one. Swish, QuickGelu, SwiGLU.
Result<bool> lower_swish(GpuLowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", node.domain.empty() ? 1.0f : 1.702f));
  if (!std::isfinite(alpha)) return false;
  return place(
      lowering, node,
      fmt::format("x0 * sigmoid({} * x0){}", float_text(alpha), node.inputs.size() > 1 ? " * x1" : ""),
      alone(node));
}

constexpr char sub_text[] = "x0 - x1";
constexpr char mul_text[] = "x0 * x1";
constexpr char div_text[] = "x0 / x1";
constexpr char pow_text[] = "power(x0, x1)";

void add_to(GpuOperatorTable& table) {
  table.add("Add", lower_add);
  table.add("Sub", lower_binary<sub_text>);
  table.add("Mul", lower_binary<mul_text>);
  table.add("Div", lower_binary<div_text>);
  table.add("Pow", lower_binary<pow_text>);
  table.add("PRelu", lower_prelu);
  table.add("Where", lower_where);
  table.add("Max", lower_max);
  table.add("Min", lower_min);
  table.add("Sum", lower_sum);
  table.add("Gelu", lower_gelu);
  table.add("com.microsoft.Gelu", lower_gelu);
  table.add("com.microsoft.BiasGelu", lower_contrib_gelu<false>);
  table.add("com.microsoft.FastGelu", lower_contrib_gelu<true>);
  table.add("com.microsoft.QuickGelu", lower_swish);
  table.add("Swish", lower_swish);
  table.add("SwiGLU", lower_swish);
}

}  // namespace driftscope::gpu::nary
