#include "core/convert/tf/branches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/base/unique_names.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/lowering/fold_constants.hpp"

namespace driftscope::tf {
namespace {

constexpr std::size_t max_flat_nodes = 250'000;  // of the flat graph
constexpr std::int64_t opset = 13;               // of what is added
constexpr std::array<std::string_view, 2> branch_names = {"then_branch", "else_branch"};

bool is_if(const OnnxNode& node) { return node.op_type == "If" && node.domain.empty(); }

const Subgraph* branch_of(const OnnxNode& node, bool condition) {
  const std::string_view wanted = branch_names[condition ? 0 : 1];
  for (const Subgraph& one : node.subgraphs)
    if (one.attribute == wanted && one.graph->inputs.empty() &&
        one.graph->outputs.size() == node.outputs.size())
      return &one;
  return nullptr;
}

std::optional<bool> known_condition(const Graph& graph, const OnnxNode& node) {
  const auto& known = graph.values[node.inputs.at(0)].constant;
  if (!known || known->elements() != 1 || known->dtype() != DType::boolean) return std::nullopt;
  return known->bytes()[0] != std::byte{0};
}

bool reads_constant(const Graph& graph, const OnnxNode& node, std::size_t input) {
  return input < node.inputs.size() && node.inputs[input] != no_value &&
         graph.values[node.inputs[input]].constant.has_value();
}

// Whether values, not only shapes, can make it fail: indices out of range, integers divided by 0, loops that
// do not end.
bool can_fail(const Graph& graph, const OnnxNode& node) {
  constexpr auto by_index = std::to_array<std::string_view>(
      {"Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND"});
  if (std::ranges::find(by_index, node.op_type) != by_index.end()) return !reads_constant(graph, node, 1);
  if (node.op_type == "Div" || node.op_type == "Mod")
    return node.outputs[0] != no_value && !is_floating(graph.values[node.outputs[0]].dtype) &&
           !reads_constant(graph, node, 1);
  return !node.subgraphs.empty() && !is_if(node);
}

/// Puts branches in the place of their nodes.
class Flattening {
 public:
  explicit Flattening(Graph graph) : graph_(std::move(graph)) {
    for (const Value& value : graph_.values) names_.insert(value.name);
  }

  /// Whether anything changed. `all`: also where the condition is not known.
  Result<bool> run(bool all) {
    bool changed = false;
    std::vector<OnnxNode> nodes = std::exchange(graph_.nodes, {});
    for (OnnxNode& node : nodes) {
      const bool flat = is_if(node) && node.inputs.size() == 1 && node.inputs[0] != no_value;
      const auto condition = flat ? known_condition(graph_, node) : std::nullopt;
      if (condition && branch_of(node, *condition) != nullptr) {
        give(node, *branch_of(node, *condition));
        changed = true;
      } else if (flat && all && !condition && why_both_cannot_run(graph_, node).empty()) {
        DRIFTSCOPE_CHECK(choose(node));
        both_.push_back(node.name);
        changed = true;
      } else {
        graph_.nodes.push_back(std::move(node));
      }
      if (graph_.nodes.size() > max_flat_nodes)
        return limit_error(
            fmt::format("without its branches the graph has more than {} nodes", max_flat_nodes));
    }
    for (Value& value : graph_.values) value.producer = no_node;
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      for (const ValueId id : graph_.nodes[n].outputs)
        if (id != no_value) graph_.values[id].producer = n;
    return changed;
  }

  [[nodiscard]] Graph take() { return std::move(graph_); }
  [[nodiscard]] const std::vector<std::string>& both() const { return both_; }

 private:
  ValueId add_value(Value value) {
    value.name = names_.take(value.name);
    graph_.values.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values.size() - 1);
  }

  OnnxNode& add_node(const OnnxNode& around, std::string op, std::vector<ValueId> inputs, ValueId output) {
    OnnxNode node;
    node.name = fmt::format("{}/{}", around.name, op);
    node.op_type = std::move(op);
    node.opset = opset;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back();
  }

  // The branch's nodes; its outputs in our graph. `as`: what its outputs are to be named, where they can be.
  std::vector<ValueId> spliced(const OnnxNode& around, const Subgraph& branch, std::span<const ValueId> as) {
    const Graph& inner = *branch.graph;
    std::map<ValueId, ValueId> ids;
    ids[no_value] = no_value;
    for (std::size_t i = 0; i < inner.captured.size(); ++i)
      ids[inner.captured[i]] = around.captured[branch.captured[i]];
    for (std::size_t o = 0; o < as.size(); ++o)
      if (as[o] != no_value && inner.values[inner.outputs[o]].producer != no_node)
        ids.try_emplace(inner.outputs[o], as[o]);
    const auto in_ours = [&](ValueId id) {
      const auto found = ids.find(id);
      if (found != ids.end()) return found->second;
      Value value = inner.values[id];
      value.name = fmt::format("{}/{}", around.name, value.name);
      return ids[id] = add_value(std::move(value));
    };
    for (OnnxNode node : inner.nodes) {
      node.name = fmt::format("{}/{}", around.name, node.name);
      for (auto* list : {&node.inputs, &node.outputs, &node.captured})
        for (ValueId& id : *list) id = in_ours(id);
      graph_.nodes.push_back(std::move(node));
    }
    std::vector<ValueId> outputs;
    for (const ValueId id : inner.outputs) outputs.push_back(in_ours(id));
    return outputs;
  }

  void give(const OnnxNode& node, const Subgraph& branch) {
    const std::vector<ValueId> made = spliced(node, branch, node.outputs);
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (node.outputs[o] != no_value && made[o] != node.outputs[o])
        add_node(node, "Identity", {made[o]}, node.outputs[o]);
  }

  Status choose(const OnnxNode& node) {
    const std::vector<ValueId> yes = spliced(node, *branch_of(node, true), {});
    const std::vector<ValueId> no = spliced(node, *branch_of(node, false), {});
    DRIFTSCOPE_TRY(const ValueId condition, scalar(node));
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (node.outputs[o] != no_value) add_node(node, "Where", {condition, yes[o], no[o]}, node.outputs[o]);
    return {};
  }

  // The condition without axes: Where would broadcast them.
  Result<ValueId> scalar(const OnnxNode& node) {
    Value none;
    none.name = node.name + "/no_axes";
    DRIFTSCOPE_TRY(none.constant, Tensor::from_values<std::int64_t>({0}, std::vector<std::int64_t>{}));
    Value condition;
    condition.name = node.name + "/condition";
    condition.dtype = DType::boolean;
    condition.shape = SymbolicShape();
    const ValueId shape = add_value(std::move(none));
    const ValueId result = add_value(std::move(condition));
    add_node(node, "Reshape", {node.inputs[0], shape}, result);
    return result;
  }

  Graph graph_;
  UniqueNames names_;
  std::vector<std::string> both_;
};

}  // namespace

std::string why_both_cannot_run(const Graph& graph, const OnnxNode& node) {
  for (const bool condition : {true, false}) {
    const Subgraph* const branch = branch_of(node, condition);
    if (branch == nullptr) return "a branch is missing, or its results are not those of the node";
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      if (node.outputs[o] == no_value) continue;
      const auto ours = graph.values[node.outputs[o]].static_shape();
      const Value& made = branch->graph->values[branch->graph->outputs[o]];
      const auto inner = made.constant ? std::optional(made.constant->shape()) : made.static_shape();
      if (!ours || !inner || *ours != *inner)
        return fmt::format("output {} has different shapes in both, or one that is not known", o);
    }
    for (const OnnxNode& inner : branch->graph->nodes) {
      if (can_fail(*branch->graph, inner))
        return fmt::format("{} of {} may fail on values that it would not get if it did not run",
                           node_label(inner), branch->attribute);
      if (is_if(inner))
        if (std::string why = why_both_cannot_run(*branch->graph, inner); !why.empty()) return why;
    }
  }
  return "";
}

Result<FlatGraph> without_branches(Graph graph) {
  ThreadPool threads(1);
  Flattening flat(lowering::fold_constants(std::move(graph), threads));
  std::vector<std::string> both;
  // Branches that are known first: what they give may be the condition of another.
  for (bool all = false;;) {
    DRIFTSCOPE_TRY(const bool changed, flat.run(all));
    both.insert(both.end(), flat.both().begin(), flat.both().end());
    if (!changed && all) return FlatGraph{flat.take(), std::move(both)};
    if (!changed) {
      all = true;
      continue;
    }
    DRIFTSCOPE_TRY(Graph inferred, infer_shapes(flat.take()));
    flat = Flattening(lowering::fold_constants(std::move(inferred), threads));
    all = false;
  }
}

}  // namespace driftscope::tf
