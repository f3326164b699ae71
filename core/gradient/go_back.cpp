#include "core/gradient/go_back.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/eval/operator.hpp"
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_back {
namespace {

bool is_quantizing(const Node& node) {
  return node.op_type.find("uantize") != std::string::npos || node.op_type.starts_with("QLinear") ||
         node.op_type.ends_with("Integer");
}

// Operators whose rules also move the gradients of quantized values.
bool moves_integers(const Node& node) {
  constexpr std::array ops = std::to_array<std::string_view>(
      {"Concat", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"});
  return is_quantizing(node) || std::ranges::find(ops, node.op_type) != ops.end();
}

// Names that outputs get which the model's nodes omit.
class OutputNames {
 public:
  OutputNames(const Graph& graph, ModelGraph& model) : graph_(graph), model_(model) {}

  std::string name(const Node& node, std::size_t output) {
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      for (ModelNode& candidate : model_.nodes) {
        if (std::ranges::find(candidate.outputs, graph_.values[id].name) == candidate.outputs.end()) continue;
        if (candidate.outputs.size() <= output) candidate.outputs.resize(output + 1);
        std::string& name = candidate.outputs[output];
        if (name.empty()) name = fmt::format("grad/{}/output_{}", node.name, output);
        return name;
      }
    }
    return "";
  }

 private:
  const Graph& graph_;
  ModelGraph& model_;
};

}  // namespace
}  // namespace gradient_back

std::vector<ValueId> reads_with_weights(const Graph& graph, const Node& node) {
  std::vector<ValueId> reads = node.reads();
  for (const Subgraph& subgraph : node.subgraphs)
    for (const Value& inside : subgraph.graph->values) {
      if (!inside.constant || inside.producer != no_node) continue;
      const auto id = graph.find_value(inside.name);
      if (id && graph.values[*id].constant && graph.values[*id].producer == no_node) reads.push_back(*id);
    }
  return reads;
}

std::vector<bool> depending_on(const Graph& graph, const std::vector<ValueId>& wrt) {
  using namespace gradient_back;
  std::vector<bool> depends(graph.values.size(), false);
  for (const ValueId id : wrt) depends[id] = true;
  for (const Node& node : graph.nodes) {
    auto reads = reads_with_weights(graph, node);
    if (node.op_type == "CastLike") reads.resize(1);  // of the other it reads the type alone
    const auto is_dependent = [&](ValueId id) { return id != no_value && depends[id]; };
    if (!std::ranges::any_of(reads, is_dependent)) continue;
    // Integers have no gradient, except that quantized values stand for real ones.
    const bool quantized = is_quantizing(node) || std::ranges::any_of(reads, [&](ValueId id) {
                             return is_dependent(id) && is_integer(graph.values[id].dtype);
                           });
    for (const ValueId id : node.outputs)
      if (id != no_value &&
          (quantized || (!is_integer(graph.values[id].dtype) && graph.values[id].dtype != DType::boolean)))
        depends[id] = true;
  }
  return depends;
}

Result<std::string> sum_of(GradientEmitter& emit, const std::vector<std::string>& parts) {
  if (parts.empty()) return internal_error("a value without gradients");
  std::string sum = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) sum = emit.add(sum, parts[i]);
  return sum;
}

Status go_back(const BackwardGraph& through, GradientEmitter& emit, GradientParts& parts) {
  using namespace gradient_back;
  const Graph& graph = through.graph;
  const std::vector<bool>& wanted = through.wanted;
  OutputNames names(graph, through.model);
  for (std::size_t at = graph.nodes.size(); at-- > 0;) {
    const Node& node = graph.nodes[at];
    const auto has_gradient = [&](ValueId id) { return id != no_value && !parts[id].empty(); };
    const auto reads = reads_with_weights(graph, node);
    if (!std::ranges::any_of(node.outputs, has_gradient)) continue;
    if (!std::ranges::any_of(reads, [&](ValueId id) { return id != no_value && wanted[id]; })) continue;
    const GradientRule rule = gradient_rules_table().find(node.domain, node.op_type);
    if (rule == nullptr || !node.opaque.empty())
      return unsupported(
          fmt::format("{}: {} has no gradient rule, and the loss depends on the value through it; choose a "
                      "value behind it (--wrt), or add core/gradient/rules/NAME.cpp",
                      node_label(node), operator_text(node)));
    for (const ValueId id : reads)
      if (id != no_value && wanted[id] && is_integer(graph.values[id].dtype) && !moves_integers(node))
        return unsupported(fmt::format(
            "{}: it computes with quantized numbers, through which there is no gradient; use a model "
            "with QuantizeLinear and DequantizeLinear around float operators (--straight-through)",
            node_label(node)));
    emit.set_prefix("grad/" + node.name);
    std::vector<std::string> of_outputs;
    for (const ValueId id : node.outputs) {
      of_outputs.emplace_back();
      if (!has_gradient(id)) continue;
      DRIFTSCOPE_TRY(of_outputs.back(), sum_of(emit, parts[id]));
      parts[id] = {of_outputs.back()};
    }
    NodeGradient gradient({graph, node, wanted, through.straight_through,
                           [&](std::size_t output) { return names.name(node, output); }},
                          emit, std::move(of_outputs));
    DRIFTSCOPE_CHECK(rule(gradient));
    for (const auto& [input, name] : gradient.of_inputs()) parts[node.inputs[input]].push_back(name);
    for (const auto& [id, name] : gradient.of_captured()) parts[id].push_back(name);
  }
  return {};
}

}  // namespace driftscope
