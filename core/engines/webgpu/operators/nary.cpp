// Elementwise functions of several values, with broadcasting.
#include <fmt/format.h>

#include "core/engines/gpu/broadcast.hpp"
#include "core/engines/webgpu/lowering.hpp"

namespace driftscope::webgpu::nary {

// WebGPU guarantees eight buffers for a shader.
constexpr std::size_t max_inputs = 7;

// `expression` in x0, x1, …
Result<bool> place(Lowering& lowering, const Node& node, const std::string& expression,
                   const Fusion& fusion) {
  if (node.inputs.size() > max_inputs) return false;
  const auto plan = gpu::plan_broadcast(lowering, node, fusion.output);
  if (!plan) return false;
  std::vector<BufferId> reads;
  std::string loads;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    DRIFTSCOPE_TRY(const BufferId buffer, lowering.read_number(node.inputs[i], plan->operands[i]));
    reads.push_back(buffer);
    loads +=
        fmt::format("  let x{0} = in{0}[{1}];\n", i, plan->all_whole ? "i" : place_of(plan->axes, i, "i"));
  }
  const std::int64_t count = element_count(lowering.shape(fusion.output));
  std::string text = expression;
  if (!fusion.nodes.empty())
    text = fmt::format("clamp({}, T({}), T({}))", text, float_text(fusion.clamp.min),
                       float_text(fusion.clamp.max));
  const BufferId out = lowering.write(fusion.output, plan->layout);
  const ShaderValues values = {{"TYPE", std::string(plan->all_whole ? "vec4f" : "f32")},
                               {"INPUTS", std::ssize(reads)},
                               {"FUNCTIONS", 1},
                               {"LOADS", loads},
                               {"EXPRESSION", text}};
  DRIFTSCOPE_TRY(const bool done, lowering.emit_flat("webgpu/elementwise.wgsl", values, std::move(reads), out,
                                                     plan->all_whole ? (count + 3) / 4 : count));
  lowering.absorb(fusion);
  return done;
}

Fusion alone(const Node& node) { return {.output = node.outputs[0], .nodes = {}, .clamp = {}}; }

Result<bool> lower_prelu(Lowering& lowering, const Node& node) {
  if (node.inputs.size() != 2 || node.opset < 7) return false;
  return place(lowering, node, "select(x0 * x1, x0, x0 >= T())", alone(node));
}

template <const char* text>
Result<bool> lower_binary(Lowering& lowering, const Node& node) {
  if (node.inputs.size() != 2) return false;
  return place(lowering, node, text, alone(node));
}

Result<bool> lower_add(Lowering& lowering, const Node& node) {
  if (node.inputs.size() != 2 || !lowering.is_float(node.outputs[0])) return false;
  return place(lowering, node, "x0 + x1", lowering.with_activation(node));
}

Result<bool> lower_where(Lowering& lowering, const Node& node) {
  return place(lowering, node, "select(x2, x1, x0 != T())", alone(node));
}

// a, then by each further one `step`, in the order of the inputs.
Result<bool> fold(Lowering& lowering, const Node& node, const char* open, const char* between,
                  const char* close) {
  std::string text = "x0";
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    text = fmt::format("{}{}{}x{}{}", open, text, between, i, close);
  return place(lowering, node, text, alone(node));
}

Result<bool> lower_max(Lowering& lowering, const Node& node) {
  return fold(lowering, node, "max(", ", ", ")");
}
Result<bool> lower_min(Lowering& lowering, const Node& node) {
  return fold(lowering, node, "min(", ", ", ")");
}
Result<bool> lower_sum(Lowering& lowering, const Node& node) { return fold(lowering, node, "(", " + ", ")"); }

constexpr char sub_text[] = "x0 - x1";
constexpr char mul_text[] = "x0 * x1";
constexpr char div_text[] = "x0 / x1";
constexpr char pow_text[] = "power(x0, x1)";

void add_to(WebGpuOperatorTable& table) {
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
}

}  // namespace driftscope::webgpu::nary
