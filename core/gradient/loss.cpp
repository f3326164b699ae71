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
    return bad_input(fmt::format("--of {}: expected \"loss\", \"margin\" or an output of the model: {}", of,
                                 output_list(graph)));
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

// The graph of the gradient adds a value of this name.
Status expect_free(const Graph& graph, const ModelGraph& model, const std::string& name) {
  if (graph.find_value(name) || std::ranges::find(model.inputs, name, &ValueInfo::name) != model.inputs.end())
    return bad_input(
        fmt::format("the model has a value {} already, which the gradient's graph adds: rename it", name));
  return {};
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
  if (of != "loss" && of != "margin") return sum_loss(graph, of, emit);
  std::optional<ValueId> output;
  for (const ValueId id : graph.outputs)
    if (!output && is_floating(graph.values[id].dtype)) output = id;
  if (!output)
    return bad_input(fmt::format("--of {}: the model has no floating output ({})", of, output_list(graph)));
  DRIFTSCOPE_TRY(const ValueId root, logits_of(graph, *output));
  const Value& logits = graph.values[root];
  if (!logits.shape || logits.shape->size() != 2 || !(*logits.shape)[1].known())
    return unsupported(fmt::format(
        "--of {}: output {} has shape {}; expected one row of classes a sample, [N, classes]; for the sum of "
        "an output's elements: --of {}",
        of, graph.values[*output].name, logits.shape ? shape_text(*logits.shape) : "unknown",
        graph.values[*output].name));
  Loss loss;
  loss.classes = (*logits.shape)[1].size;
  if (loss.classes < 2)
    return unsupported(
        fmt::format("--of {}: output {} has {} column, expected two classes or more; for the sum of an "
                    "output's elements: --of {}",
                    of, graph.values[*output].name, loss.classes, graph.values[*output].name));
  std::vector<std::string> added = {std::string(gradient_label)};
  if (of == "margin") added.emplace_back(gradient_other);
  for (const std::string& name : added) {
    DRIFTSCOPE_CHECK(expect_free(graph, model, name));
    model.inputs.push_back({name, DType::int64, SymbolicShape{(*logits.shape)[0]}});
  }
  DRIFTSCOPE_CHECK(expect_free(graph, model, of));
  loss.root = root;
  loss.name = of;
  loss.logits = logits.name;
  emit.set_prefix("grad/" + of);
  if (of == "margin") {
    loss.gradient = emit.sub(emit.one_hot(added[0], loss.classes, logits.dtype),
                             emit.one_hot(added[1], loss.classes, logits.dtype));
    emit.rename(emit.reduce("ReduceSum", emit.mul(logits.name, loss.gradient), {0, 1}, false), loss.name);
    return loss;
  }
  const std::string& label = added[0];
  const std::string log_p = emit.node("LogSoftmax", {logits.name}, {{"axis", std::int64_t{1}}});
  const std::string chosen = emit.one_hot(label, loss.classes, logits.dtype);
  const std::string sum = emit.reduce("ReduceSum", emit.mul(log_p, chosen), {0, 1}, false);
  emit.rename(emit.node("Neg", {sum}), loss.name);
  // p − 1 of the label, as minus the others' sum: near 1 the difference would be a multiple of 2⁻²⁴.
  const std::string others = emit.mul(emit.node("Softmax", {logits.name}, {{"axis", std::int64_t{1}}}),
                                      emit.sub(emit.scalar(1.0, logits.dtype), chosen));
  loss.gradient = emit.sub(others, emit.mul(chosen, emit.reduce("ReduceSum", others, {1}, true)));
  return loss;
}

}  // namespace driftscope
