#include "core/gradient/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/eval/infer_shapes.hpp"
#include "core/gradient/go_back.hpp"
#include "core/gradient/loss.hpp"
#include "core/gradient/opset.hpp"
#include "core/gradient/prune.hpp"
#include "core/graph/build.hpp"

namespace driftscope {
namespace gradient_parts {
namespace {

// The only symbol of the inputs' sizes; "" if there are none, several, or sizes that have no name.
std::string only_symbol(const Graph& graph) {
  std::string symbol;
  for (const ValueId id : graph.inputs) {
    if (!graph.values[id].shape) return "";
    for (const Dimension& dimension : *graph.values[id].shape) {
      if (dimension.known()) continue;
      if (dimension.symbol.empty() || (!symbol.empty() && symbol != dimension.symbol)) return "";
      symbol = dimension.symbol;
    }
  }
  return symbol;
}

// Sizes that inference leaves open because others are (of a Resize, say), in models with a single symbol:
// they
// are what two bindings of the symbol agree on, or the symbol itself.
void find_open_sizes(Graph& graph) {
  const std::string symbol = only_symbol(graph);
  if (symbol.empty()) return;
  constexpr std::array<std::int64_t, 2> sizes = {2, 3};
  std::array<Graph, 2> bound;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    std::vector<Shape> shapes;
    for (const ValueId id : graph.inputs) {
      shapes.emplace_back();
      for (const Dimension& dimension : *graph.values[id].shape)
        shapes.back().push_back(dimension.known() ? dimension.size : sizes[i]);
    }
    auto one = bind_shapes(graph, shapes);
    if (!one.ok()) return;  // the symbol has a size that the model fixes elsewhere
    bound[i] = *std::move(one);
  }
  if (std::ranges::any_of(bound, [&](const Graph& one) { return one.values.size() != graph.values.size(); }))
    return;
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    const auto first = bound[0].values[id].static_shape();
    const auto second = bound[1].values[id].static_shape();
    Value& value = graph.values[id];
    if (value.static_shape() || !first || !second || first->size() != second->size()) continue;
    if (!value.shape) value.shape = SymbolicShape(first->size());
    for (std::size_t axis = 0; axis < first->size() && first->size() == value.shape->size(); ++axis) {
      Dimension& dimension = (*value.shape)[axis];
      if (dimension.known() || !dimension.symbol.empty()) continue;
      if ((*first)[axis] == (*second)[axis])
        dimension.size = (*first)[axis];
      else if ((*first)[axis] == sizes[0] && (*second)[axis] == sizes[1])
        dimension.symbol = symbol;
    }
  }
}

Result<Graph> shaped(const Model& model, const std::vector<Shape>& shapes) {
  DRIFTSCOPE_TRY(Graph graph, build_graph(model));
  DRIFTSCOPE_TRY(graph, infer_shapes(std::move(graph)));
  if (!shapes.empty()) return bind_shapes(std::move(graph), shapes);
  find_open_sizes(graph);
  return graph;
}

// The floating input, or what looks the tokens up.
Result<std::string> default_value(const Graph& graph) {
  std::vector<std::string> floating;
  for (const ValueId id : graph.inputs)
    if (is_floating(graph.values[id].dtype)) floating.push_back(graph.values[id].name);
  if (floating.size() == 1) return floating[0];
  if (floating.size() > 1)
    return bad_input(fmt::format("the model has several floating inputs: choose with --wrt: {}",
                                 fmt::join(floating, ", ")));
  for (const Node& node : graph.nodes)
    if (node.op_type == "Gather" && node.inputs.size() == 2 &&
        is_floating(graph.values[node.outputs[0]].dtype) && graph.values[node.inputs[0]].constant &&
        std::ranges::find(graph.inputs, node.inputs[1]) != graph.inputs.end())
      return graph.values[node.outputs[0]].name;
  return bad_input(
      "no input of the model is floating, and none is looked up in a table (Gather) directly: name a value "
      "with --wrt");
}

Result<ValueId> find_wrt(const Graph& graph, const std::string& name) {
  const auto id = graph.find_value(name);
  if (!id) {
    std::vector<std::string> some;
    for (const Value& value : graph.values)
      if (is_floating(value.dtype) && !value.constant && some.size() < 8) some.push_back(value.name);
    return bad_input(fmt::format("--wrt {}: the model has no such value; it has, for example: {}", name,
                                 fmt::join(some, ", ")));
  }
  if (!is_floating(graph.values[*id].dtype))
    return bad_input(fmt::format("--wrt {}: its type is {}; only floating values have a gradient", name,
                                 dtype_name(graph.values[*id].dtype)));
  return *id;
}

void set_input_sizes(ModelGraph& model, const Graph& graph) {
  for (ValueInfo& input : model.inputs)
    if (const auto id = graph.find_value(input.name)) input.shape = graph.values[*id].shape;
}

/// The weights after a step of gradient descent.
Status add_steps(const Graph& graph, const std::vector<ValueId>& wrt, double rate, GradientEmitter& emit,
                 GradientModel& result) {
  if (!std::isfinite(rate))
    return bad_input(fmt::format("--sgd {}: expected a finite number, the learning rate", rate));
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const Value& value = graph.values[wrt[i]];
    if (!value.constant) continue;
    emit.set_prefix("step/" + value.name);
    const std::string change = emit.mul(result.gradients[i], emit.scalar(rate, value.dtype));
    result.steps.push_back("step/" + value.name);
    emit.rename(emit.sub(value.name, change), result.steps.back());
    result.model.graph.outputs.push_back({result.steps.back(), value.dtype, value.shape});
  }
  if (result.steps.empty())
    return bad_input(
        fmt::format("--sgd: none of {} is a weight (an initializer), which a step would change; "
                    "name weights with --wrt",
                    fmt::join(result.wrt, ", ")));
  return {};
}

}  // namespace
}  // namespace gradient_parts

Result<GradientModel> make_gradient(const Model& model, const GradientRequest& request) {
  using namespace gradient_parts;
  GradientModel result;
  DRIFTSCOPE_TRY(result.model, with_gradient_opset(model));
  ModelGraph& body = result.model.graph;
  DRIFTSCOPE_TRY(const Graph graph, shaped(result.model, request.input_shapes));
  if (!request.input_shapes.empty()) set_input_sizes(body, graph);
  result.wrt = request.wrt;
  if (result.wrt.empty()) {
    DRIFTSCOPE_TRY(const std::string value, default_value(graph));
    result.wrt = {value};
  }
  std::vector<ValueId> wrt;
  for (const std::string& name : result.wrt) {
    DRIFTSCOPE_TRY(const ValueId id, find_wrt(graph, name));
    if (std::ranges::find(wrt, id) != wrt.end()) return bad_input(fmt::format("--wrt {}: given twice", name));
    wrt.push_back(id);
  }
  GradientEmitter emit(body, result.model.opsets.at(""));
  DRIFTSCOPE_TRY(const Loss loss, add_loss(graph, request.of, body, emit));
  const std::vector<bool> wanted = depending_on(graph, wrt);
  if (!wanted[loss.root])
    return bad_input(fmt::format("{} does not depend on {}: its gradient is zero everywhere", request.of,
                                 fmt::join(result.wrt, ", ")));
  GradientParts parts(graph.values.size());
  parts[loss.root].push_back(loss.gradient);
  DRIFTSCOPE_CHECK(go_back({graph, body, wanted, request.straight_through}, emit, parts));

  result.loss = loss.name;
  result.logits = loss.logits;
  result.classes = loss.classes;
  body.outputs = {{loss.name, graph.values[loss.root].dtype, SymbolicShape()}};
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const Value& value = graph.values[wrt[i]];
    emit.set_prefix("grad/sum");
    std::string sum;
    if (parts[wrt[i]].empty())
      sum = emit.zeros_like(value.name, value.dtype);
    else {
      DRIFTSCOPE_TRY(sum, sum_of(emit, parts[wrt[i]]));
    }
    result.gradients.push_back("grad/" + value.name);
    emit.rename(sum, result.gradients.back());
    body.outputs.push_back({result.gradients.back(), value.dtype, value.shape});
  }
  if (request.step_rate) DRIFTSCOPE_CHECK(add_steps(graph, wrt, *request.step_rate, emit, result));
  prune(body);
  result.model.producer = "driftscope gradient";
  result.model.sha256.clear();
  return result;
}

}  // namespace driftscope
