// Pairs of a product and the one that a BatchNormalization was folded into: both have the operator and the
// shape, but B's value is that of the normalization. Where the folding is right, the values say so; where
// it is wrong, only the weights do.
#include <algorithm>

#include "core/convert_check/alignment.hpp"
#include "core/convert_check/explain_parts.hpp"

namespace driftscope::convert {
namespace {

constexpr double another_value = 0.05;

/// The only node that reads a value; nothing where there are several or none, or it is an output.
std::optional<NodeId> only_reader(const Graph& graph, ValueId value) {
  if (std::ranges::find(graph.outputs, value) != graph.outputs.end()) return std::nullopt;
  std::optional<NodeId> reader;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const auto reads = graph.nodes[id].reads();
    if (std::ranges::find(reads, value) == reads.end()) continue;
    if (reader) return std::nullopt;
    reader = id;
  }
  return reader;
}

bool normalizes(const Graph& graph, std::optional<NodeId> node) {
  return node && graph.nodes[*node].op_type == "BatchNormalization";
}

/// Whether the weights of the two products differ by more than their rounding.
bool has_other_weights(const Side& a, const Node& product, const Side& b, const Node& other) {
  if (product.inputs.size() < 2 || other.inputs.size() < 2) return false;
  const auto w = a.constant(product.inputs[1]);
  const auto v = b.constant(other.inputs[1]);
  return w && v && compare_constants(plain_weights(product, 1, *w), plain_weights(other, 1, *v)).has_value();
}

}  // namespace

Alignment with_folded_normalizations(const Side& a, const Side& b, Alignment alignment) {
  if (a.graph() == nullptr || b.graph() == nullptr) return alignment;
  const Graph& graph = *a.graph();
  for (ValuePair& pair : alignment.pairs) {
    if (pair.by != FoundBy::name && pair.by != FoundBy::structure) continue;
    const auto value = graph.find_value(pair.a);
    const auto other = b.graph()->find_value(pair.b);
    if (!value || !other || graph.values[*value].producer == no_node ||
        b.graph()->values[*other].producer == no_node)
      continue;
    const auto reader = only_reader(graph, *value);
    if (!normalizes(graph, reader) || normalizes(*b.graph(), only_reader(*b.graph(), *other))) continue;
    const std::string& normalized = graph.value_name(graph.nodes[*reader].outputs[0]);
    const auto unpaired = std::ranges::find(alignment.only_a, normalized);
    Order order = pair.order;
    if (unpaired == alignment.only_a.end() ||
        distance(*a.find(pair.a)->tensor, *b.find(pair.b)->tensor, order) <= another_value ||
        !has_other_weights(a, graph.nodes[graph.values[*value].producer], b,
                           b.graph()->nodes[b.graph()->values[*other].producer]))
      continue;
    std::swap(*unpaired, pair.a);
    pair.by = FoundBy::structure;
  }
  return alignment;
}

}  // namespace driftscope::convert
