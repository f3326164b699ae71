#include "core/gradient/loss.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/gradient/gradient.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope {
namespace {

std::string output_list(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.outputs) names.push_back(graph.values[id].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<Loss> sum_loss(const Graph& graph, const std::string& of, GradientEmitter& emit) {
  const auto id = graph.find_value(of);
  if (!id || std::ranges::find(graph.outputs, *id) == graph.outputs.end())
    return bad_input(
        fmt::format("--of {}: expected \"loss\" or an output of the model: {}", of, output_list(graph)));
  const Value& value = graph.values[*id];
  if (!is_floating(value.dtype))
    return bad_input(fmt::format("--of {}: its type is {}; only floating values have a gradient", of,
                                 dtype_name(value.dtype)));
  Loss loss;
  loss.root = *id;
  loss.name = "sum/" + of;
  emit.set_prefix("grad/" + of);
  emit.rename(emit.node("ReduceSum", {of}, {{"keepdims", std::int64_t{0}}}), loss.name);
  loss.gradient = emit.node("Expand", {emit.scalar(1.0, value.dtype), emit.node("Shape", {of})});
  return loss;
}

}  // namespace

Result<ValueId> logits_of(const Graph& graph, ValueId id) {
  while (graph.values[id].producer != no_node) {
    const Node& node = graph.nodes[graph.values[id].producer];
    if (node.op_type == "Softmax" || node.op_type == "LogSoftmax") {
      const auto& shape = graph.values[id].shape;
      DRIFTSCOPE_TRY(const std::int64_t axis, int_attribute(node, "axis", node.opset < 13 ? 1 : -1));
      if (shape && shape->size() == 2 && (axis == 1 || axis == -1)) return node.inputs[0];
      return id;
    }
    if (node.op_type != "Identity") return id;
    id = node.inputs[0];
  }
  return id;
}

Result<Loss> add_loss(const Graph& graph, const std::string& of, ModelGraph& model, GradientEmitter& emit) {
  if (of != "loss") return sum_loss(graph, of, emit);
  std::optional<ValueId> output;
  for (const ValueId id : graph.outputs)
    if (!output && is_floating(graph.values[id].dtype)) output = id;
  if (!output)
    return bad_input(fmt::format("--of loss: the model has no floating output ({})", output_list(graph)));
  DRIFTSCOPE_TRY(const ValueId root, logits_of(graph, *output));
  const Value& logits = graph.values[root];
  if (!logits.shape || logits.shape->size() != 2 || !(*logits.shape)[1].known())
    return unsupported(fmt::format(
        "--of loss: output {} has shape {}; the cross-entropy needs one row of classes a sample, [N, "
        "classes]; for the sum of an output's elements: --of {}",
        graph.values[*output].name, logits.shape ? shape_text(*logits.shape) : "unknown",
        graph.values[*output].name));
  Loss loss;
  loss.classes = (*logits.shape)[1].size;
  if (loss.classes < 2)
    return unsupported(
        fmt::format("--of loss: output {} has {} column, and the cross-entropy needs two classes or more; "
                    "for the sum of an output's elements: --of {}",
                    graph.values[*output].name, loss.classes, graph.values[*output].name));
  const std::string label(gradient_label);
  for (const ValueInfo& input : model.inputs)
    if (input.name == label || input.name == "loss")
      return bad_input(
          fmt::format("the model has an input {} already, which the gradient's graph adds: "
                      "rename it",
                      input.name));
  if (graph.find_value(label) || graph.find_value("loss"))
    return bad_input(
        "the model has a value \"label\" or \"loss\" already, which the gradient's graph adds: "
        "rename it");
  model.inputs.push_back({label, DType::int64, SymbolicShape{(*logits.shape)[0]}});
  loss.root = root;
  loss.name = "loss";
  loss.logits = logits.name;
  emit.set_prefix("grad/loss");
  const std::string log_p = emit.node("LogSoftmax", {logits.name}, {{"axis", std::int64_t{1}}});
  const std::string chosen = emit.one_hot(label, loss.classes, logits.dtype);
  const std::string sum = emit.reduce("ReduceSum", emit.mul(log_p, chosen), {0, 1}, false);
  emit.rename(emit.node("Neg", {sum}), loss.name);
  loss.gradient = emit.sub(emit.node("Exp", {log_p}), chosen);
  return loss;
}

}  // namespace driftscope
