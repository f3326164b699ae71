// If: an If of the gradients of its branches. A branch computes its values again, since those inside the
// model's own If cannot be seen from outside, and then goes back through them.
#include <algorithm>

#include "core/gradient/go_back.hpp"
#include "core/gradient/prune.hpp"
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_branches {
namespace {

bool draws(const Node& node) {
  return node.op_type.starts_with("Random") || node.op_type == "Bernoulli" || node.op_type == "Multinomial" ||
         (node.op_type == "Dropout" && node.inputs.size() > 2);  // with a training mode
}

bool is_repeatable(const Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const Node& node) {
    const auto repeats = [](const Subgraph& one) { return is_repeatable(*one.graph); };
    return !draws(node) && std::ranges::all_of(node.subgraphs, repeats);
  });
}

// The value inside that is this one outside; no_value in a branch that does not read it.
ValueId inside(const NodeGradient& at, const Subgraph& branch, ValueId outer) {
  const Graph& graph = *branch.graph;
  for (std::size_t i = 0; i < branch.captured.size(); ++i)
    if (at.node().captured[branch.captured[i]] == outer) return graph.captured[i];
  if (!at.graph().values[outer].constant) return no_value;
  const auto id = graph.find_value(at.graph().values[outer].name);
  return id && graph.values[*id].constant ? *id : no_value;
}

// Its outputs are the gradients of `targets`, values outside.
Result<ModelGraph> gradient_of(NodeGradient& at, const Subgraph& branch,
                               const std::vector<ValueId>& targets) {
  const Graph& graph = *branch.graph;
  const Attribute* const attribute = at.node().attribute(branch.attribute);
  const auto* const file =
      attribute == nullptr ? nullptr : std::get_if<std::shared_ptr<const ModelGraph>>(&attribute->value);
  if (file == nullptr) return internal_error("a branch without its graph");
  if (!is_repeatable(graph)) return at.unsupported_form("of branches that draw random numbers");
  ModelGraph body = **file;
  std::vector<ValueId> ids, wrt;
  for (const ValueId target : targets) {
    ids.push_back(inside(at, branch, target));
    if (ids.back() != no_value) wrt.push_back(ids.back());
  }
  const std::vector<bool> wanted = depending_on(graph, wrt);
  GradientParts parts(graph.values.size());
  for (std::size_t i = 0; i < std::min(graph.outputs.size(), at.node().outputs.size()); ++i)
    if (!at.dy(i).empty() && wanted[graph.outputs[i]]) parts[graph.outputs[i]].push_back(at.dy(i));
  GradientEmitter emit(body, at.emit());
  DRIFTSCOPE_CHECK(go_back({graph, body, wanted, at.straight_through()}, emit, parts));
  emit.set_prefix("grad/" + at.node().name + "/" + branch.attribute);
  body.outputs.clear();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Value& outer = at.graph().values[targets[i]];
    std::string gradient;
    if (ids[i] == no_value || parts[ids[i]].empty()) {
      gradient = emit.zeros_like(outer.name, outer.dtype);
    } else {
      DRIFTSCOPE_TRY(gradient, sum_of(emit, parts[ids[i]]));
      gradient = emit.node("Identity", {gradient});  // the gradient of an output may come from outside
    }
    body.outputs.push_back({gradient, outer.dtype, outer.shape});
  }
  prune(body);
  return body;
}

Status if_rule(NodeGradient& at) {
  std::vector<ValueId> targets;
  for (const ValueId id : reads_with_weights(at.graph(), at.node()))
    if (id != no_value && at.wanted_value(id) && std::ranges::find(targets, id) == targets.end())
      targets.push_back(id);
  std::vector<Attribute> branches;
  for (const Subgraph& branch : at.node().subgraphs) {
    DRIFTSCOPE_TRY(ModelGraph body, gradient_of(at, branch, targets));
    branches.push_back({branch.attribute, std::make_shared<const ModelGraph>(std::move(body))});
  }
  const auto made = at.emit().nodes("If", {at.x(0)}, targets.size(), std::move(branches));
  for (std::size_t i = 0; i < targets.size(); ++i) at.add_captured(targets[i], made[i]);
  return {};
}

}  // namespace
}  // namespace gradient_branches

namespace gradient_rules::branches {

void add_to(GradientRuleTable& table) { table.add("If", gradient_branches::if_rule); }

}  // namespace gradient_rules::branches

}  // namespace driftscope
