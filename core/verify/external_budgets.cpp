// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/external_budgets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/verify/derivation.hpp"
#include "core/verify/wpt_budgets.hpp"

namespace driftscope {
namespace {

std::optional<Shape> shape_of(const Graph& graph, const RecordedValues& recorded, ValueId id) {
  if (id == no_value) return std::nullopt;
  if (recorded[id] != nullptr) return recorded[id]->shape;
  if (graph.values[id].constant) return graph.values[id].constant->shape();
  return graph.values[id].static_shape();
}

/// The nodes of a graph by name, and the values that they compute.
class Lookup {
 public:
  explicit Lookup(const Graph& graph) {
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      nodes_.emplace(graph.nodes[id].name, id);
      for (const ValueId value : graph.nodes[id].outputs)
        if (value != no_value) outputs_.emplace(graph.values[value].name, std::pair(id, value));
    }
  }

  [[nodiscard]] std::optional<NodeId> node(const std::string& name) const {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<std::pair<NodeId, ValueId>> output(const std::string& value) const {
    const auto found = outputs_.find(value);
    return found == outputs_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, NodeId, std::less<>> nodes_;
  std::map<std::string, std::pair<NodeId, ValueId>, std::less<>> outputs_;
};

std::optional<BudgetRule> rule_for(const BudgetSuite& suite, const Graph& graph,
                                   const RecordedValues& recorded, NodeId id, ValueId output, DType dtype) {
  const Node& node = graph.nodes[id];
  if (!node.domain.empty()) return std::nullopt;
  return suite.rule({node, dtype, shape_of(graph, recorded, output), [&](std::size_t i) {
                       return i < node.inputs.size() ? shape_of(graph, recorded, node.inputs[i])
                                                     : std::nullopt;
                     }});
}

// The sum over the nodes of a layer; nothing if one has no budget, or not in ULP.
std::optional<BudgetRule> rule_for_layer(const BudgetSuite& suite, const Graph& graph,
                                         const RecordedValues& recorded, const Lookup& lookup,
                                         const LayerVerdict& layer) {
  const auto last = lookup.output(layer.output);
  if (!last || recorded[last->second] == nullptr) return std::nullopt;
  const DType dtype = recorded[last->second]->dtype;
  std::optional<BudgetRule> sum;
  const auto add = [&](NodeId id, ValueId output) {
    auto rule = rule_for(suite, graph, recorded, id, output, dtype);
    if (!rule || (sum && (rule->metric != BudgetMetric::ulp || sum->metric != BudgetMetric::ulp)))
      return false;
    if (!sum) return sum = std::move(rule), true;
    sum->name += " + " + rule->name;
    sum->value += rule->value;
    return true;
  };
  for (const std::string& name : layer.group) {
    const auto id = lookup.node(name);
    if (!id || graph.nodes[*id].outputs.empty() || !add(*id, graph.nodes[*id].outputs.front()))
      return std::nullopt;
  }
  return add(last->first, last->second) ? sum : std::nullopt;
}

}  // namespace

std::span<const BudgetSuite* const> budget_suites() {
  static const std::array<const BudgetSuite*, 1> all = {&wpt_budgets()};
  return all;
}

Result<const BudgetSuite*> find_budget_suite(std::string_view name) {
  std::string names;
  for (const BudgetSuite* suite : budget_suites()) {
    if (suite->name == name) return suite;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", suite->name, suite->title);
  }
  return bad_input(fmt::format("there are no budgets called '{}'; expected {}", name, names));
}

void apply_budgets(Verification& verification, const BudgetSuite& suite, const Graph& graph,
                   const TraceView& trace) {
  const RecordedValues recorded(graph, trace);
  const Lookup lookup(graph);
  verification.budgets = suite.name;
  for (LayerVerdict& layer : verification.layers) {
    layer.external.reset();
    if (layer.verdict == Verdict::missing) continue;
    const auto rule = rule_for_layer(suite, graph, recorded, lookup, layer);
    if (!rule) continue;
    const double seen = rule->metric == BudgetMetric::ulp ? layer.metrics.max_ulp : layer.metrics.max_abs;
    // A NaN, or infinity, where a number belongs is beyond any budget.
    layer.external = ExternalBudget{rule->name, rule->metric, rule->value, seen, seen <= rule->value};
  }
}

}  // namespace driftscope
