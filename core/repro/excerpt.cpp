#include "core/repro/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/eval/evaluate.hpp"
#include "core/numerics/rounding.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/engine_models.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {
namespace {

SymbolicShape known_sizes(const Shape& shape) {
  SymbolicShape sizes;
  for (const std::int64_t size : shape) sizes.push_back({size, ""});
  return sizes;
}

/// The first output of the node that is wrong, else the first that was recorded.
Result<std::size_t> judged_output(const Graph& graph, const Node& node, const RecordedValues& recorded,
                                  const Verification& verification) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    if (id == no_value || recorded[id] == nullptr) continue;
    if (!first) first = i;
    for (const LayerVerdict& layer : verification.layers)
      if (layer.output == graph.values[id].name && is_bad(layer.verdict)) return i;
  }
  if (!first) return bad_input(fmt::format("node '{}': the trace holds none of its outputs", node.name));
  return *first;
}

/// The node and those before it; in the order of the graph.
std::set<NodeId> nodes_before(const Graph& graph, NodeId last, int steps) {
  std::set<NodeId> nodes = {last};
  std::set<NodeId> edge = nodes;
  for (int step = 0; step < steps; ++step) {
    std::set<NodeId> next;
    for (const NodeId id : edge)
      for (const ValueId input : graph.nodes[id].inputs) {
        const NodeId producer = input == no_value ? no_node : graph.values[input].producer;
        if (producer != no_node && !graph.values[input].constant && nodes.insert(producer).second)
          next.insert(producer);
      }
    edge = std::move(next);
  }
  return nodes;
}

class Cut {
 public:
  Cut(const Graph& graph, const RecordedValues& recorded, ThreadPool& threads)
      : graph_(graph), recorded_(recorded), threads_(threads) {}

  Status add(NodeId id) {
    const Node& node = graph_.nodes[id];
    if (!node.subgraphs.empty())
      return unsupported(
          fmt::format("node '{}' ({}) has a body: it cannot stand alone", node.name, node.op_type));
    Node alone = node;
    alone.name = fmt::format("n{}", made_.graph.nodes.size());
    for (ValueId& input : alone.inputs) DRIFTSCOPE_CHECK(read(node, input));
    for (ValueId& output : alone.outputs) {
      if (output == no_value) continue;
      Value value;
      value.name = fmt::format("v{}", made_.graph.values.size());
      value.producer = static_cast<NodeId>(made_.graph.nodes.size());
      if (recorded_[output] != nullptr) {
        value.dtype = recorded_[output]->dtype;
        value.shape = known_sizes(recorded_[output]->shape);
      }
      output = place(output, std::move(value));
    }
    made_.graph.nodes.push_back(std::move(alone));
    return {};
  }

  Result<Excerpt> judged_by(ValueId output) {
    const ValueId y = places_.at(output);
    made_.graph.values[y].name = "y";
    made_.graph.outputs = {y};
    made_.graph.name = "excerpt";
    DRIFTSCOPE_TRY(Tensor got, recorded_.load(output));
    made_.got = {"y", std::move(got)};
    return std::move(made_);
  }

 private:
  ValueId place(ValueId original, Value value) {
    made_.graph.values.push_back(std::move(value));
    return places_[original] = static_cast<ValueId>(made_.graph.values.size() - 1);
  }

  /// Of a value that depends on no input: axes that a Constant node holds, say. Nothing for those that were
  /// recorded, and those that depend on one.
  std::optional<Tensor> constant_of(ValueId id) {
    const Value& value = graph_.values[id];
    if (value.constant) return *value.constant;
    if (recorded_[id] != nullptr || value.producer == no_node) return std::nullopt;
    const Node& node = graph_.nodes[value.producer];
    if (!node.subgraphs.empty()) return std::nullopt;
    std::vector<std::optional<Tensor>> inputs;
    std::vector<const Tensor*> read;
    for (const ValueId one : node.reads()) {
      inputs.push_back(one == no_value ? std::nullopt : constant_of(one));
      if (one != no_value && !inputs.back()) return std::nullopt;
    }
    for (const std::optional<Tensor>& one : inputs) read.push_back(one ? &*one : nullptr);
    auto outputs = evaluate_strict(node, read, threads_);
    const auto place = std::ranges::find(node.outputs, id) - node.outputs.begin();
    if (!outputs.ok() || place >= std::ssize(*outputs)) return std::nullopt;
    return std::move((*outputs)[static_cast<std::size_t>(place)]);
  }

  Status read(const Node& node, ValueId& input) {
    if (input == no_value) return {};
    if (const auto known = places_.find(input); known != places_.end()) {
      input = known->second;
      return {};
    }
    Value value;
    if (std::optional<Tensor> constant = constant_of(input)) {
      value.name = fmt::format("w{}", weights_++);
      value.constant = *std::move(constant);
      value.dtype = value.constant->dtype();
      value.shape = known_sizes(value.constant->shape());
      input = place(input, std::move(value));
      return {};
    }
    if (recorded_[input] == nullptr)
      return bad_input(fmt::format(
          "node '{}' reads '{}', which the trace does not hold; record all values (--trace all:FILE)",
          node.name, graph_.values[input].name));
    DRIFTSCOPE_TRY(Tensor tensor, recorded_.load(input));
    value.name = fmt::format("x{}", made_.inputs.size());
    value.dtype = tensor.dtype();
    value.shape = known_sizes(tensor.shape());
    made_.inputs.push_back({value.name, std::move(tensor)});
    input = place(input, std::move(value));
    made_.graph.inputs.push_back(input);
    return {};
  }

  const Graph& graph_;
  const RecordedValues& recorded_;
  ThreadPool& threads_;
  Excerpt made_;
  std::map<ValueId, ValueId> places_;
  std::size_t weights_ = 0;
};

}  // namespace

Result<Excerpt> excerpt_of(const Graph& graph, const TraceView& trace, const std::string& name,
                           ThreadPool& threads, int before) {
  DRIFTSCOPE_TRY(const Verification verification, verify_node(graph, trace, name, threads));
  const auto found = std::ranges::find(graph.nodes, name, &Node::name);
  if (found == graph.nodes.end())
    return unsupported(fmt::format("node '{}' is inside the body of another: it cannot stand alone", name));
  const RecordedValues recorded(graph, trace);
  DRIFTSCOPE_TRY(const std::size_t output, judged_output(graph, *found, recorded, verification));
  Cut cut(graph, recorded, threads);
  for (const NodeId id : nodes_before(graph, static_cast<NodeId>(found - graph.nodes.begin()), before))
    DRIFTSCOPE_CHECK(cut.add(id));
  DRIFTSCOPE_TRY(Excerpt excerpt, cut.judged_by(found->outputs[output]));
  DRIFTSCOPE_CHECK(set_expected(excerpt, trace.about(), threads));
  for (const LayerVerdict& layer : verification.layers)
    if (layer.output == graph.values[found->outputs[output]].name) excerpt.verdict = layer;
  return excerpt;
}

Status set_expected(Excerpt& excerpt, const Trace& about, ThreadPool& threads) {
  Trace trace;
  trace.target = about.target;
  trace.run = about.run;
  trace.tensors = excerpt.inputs;
  trace.tensors.push_back(excerpt.got);
  const TraceView view(trace);
  const RecordedValues recorded(excerpt.graph, view);
  const RunFacts run = run_facts_of(about);
  DRIFTSCOPE_TRY(Derivation derivation, Derivation::plan(excerpt.graph, recorded, run.model));
  const ValueId y = excerpt.graph.outputs[0];
  const NodeId last = excerpt.graph.values[y].producer;
  for (const NodeId id : derivation.nodes()) {
    const std::vector<Derived> outputs = derivation.derive(id, threads);
    if (id != last) continue;
    const auto at =
        std::ranges::find(excerpt.graph.nodes[id].outputs, y) - excerpt.graph.nodes[id].outputs.begin();
    const Derived& derived = outputs[static_cast<std::size_t>(at)];
    if (!derived.reason.empty())
      return unsupported("there is no reference to compare with: " + derived.reason);
    const Evaluated<Bounded>& want = derived.reference;
    DRIFTSCOPE_TRY(excerpt.bound, Tensor::make(DType::float64, want.shape));
    if (!is_floating(want.dtype)) {
      excerpt.expected = want.tensor;
      return {};
    }
    const std::vector<Bounded> exact = is_known(want) ? lift_values<Bounded>(want.tensor) : want.real;
    DRIFTSCOPE_TRY(excerpt.expected, Tensor::make(DType::float64, want.shape));
    const ErrorModel model = error_model_for(run.model, want.dtype);
    const auto expected = excerpt.expected.mutable_values<double>();
    const auto bound = excerpt.bound.mutable_values<double>();
    for (std::size_t i = 0; i < exact.size(); ++i) {
      expected[i] = exact[i].value;
      bound[i] = exact[i].worst + rounding_error(model, std::fmin(std::fabs(exact[i].value), model.largest));
    }
    return {};
  }
  return unsupported("there is no reference to compare with");
}

}  // namespace driftscope
