// Pairs that what follows contradicts: a folded convolution has the shape and the operator of the original's,
// but its values are those of the normalization behind it.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/convert_check/alignment.hpp"

namespace driftscope::convert {
namespace {

constexpr double far_apart = 0.05;
constexpr double agreeing = 1e-3;

struct Readers {
  std::unordered_map<ValueId, std::vector<NodeId>> nodes;
  explicit Readers(const Graph& graph) {
    for (NodeId node = 0; node < graph.nodes.size(); ++node)
      for (const ValueId read : graph.nodes[node].reads())
        if (read != no_value) nodes[read].push_back(node);
  }
};

}  // namespace

Alignment without_contradictions(const Side& a, const Side& b, Alignment alignment) {
  const bool by_a = a.graph() != nullptr;
  const Graph& graph = by_a ? *a.graph() : *b.graph();
  const Readers readers(graph);
  std::unordered_map<std::string_view, ValueId> ids;
  for (ValueId id = 0; id < graph.values.size(); ++id) ids.emplace(graph.values[id].name, id);
  std::map<ValueId, double> apart;  // of the pairs that remain
  for (const ValuePair& pair : alignment.pairs) {
    Order order = pair.order;
    apart[ids.at(by_a ? pair.a : pair.b)] = distance(*a.find(pair.a)->tensor, *b.find(pair.b)->tensor, order);
  }
  /// Whether there are paired values next, all of which agree.
  const auto is_contradicted = [&](ValueId value) {
    std::vector<ValueId> open = {value};
    std::vector<bool> seen(graph.nodes.size());
    bool any = false;
    while (!open.empty()) {
      const auto found = readers.nodes.find(open.back());
      open.pop_back();
      if (found == readers.nodes.end()) continue;
      for (const NodeId node : found->second) {
        if (seen[node]) continue;
        seen[node] = true;
        for (const ValueId output : graph.nodes[node].outputs) {
          const auto paired = apart.find(output);
          if (paired == apart.end()) {
            if (output != no_value) open.push_back(output);
            continue;
          }
          if (paired->second > agreeing) return false;
          any = true;
        }
      }
    }
    return any;
  };
  std::vector<ValuePair> kept;
  for (auto pair = alignment.pairs.rbegin(); pair != alignment.pairs.rend(); ++pair) {
    const ValueId id = ids.at(by_a ? pair->a : pair->b);
    const bool guessed = pair->by == FoundBy::name || pair->by == FoundBy::structure;
    if (guessed && apart.at(id) > far_apart && is_contradicted(id)) {
      apart.erase(id);
      alignment.only_a.push_back(pair->a);
      alignment.only_b.push_back(pair->b);
    } else {
      kept.push_back(std::move(*pair));
    }
  }
  std::ranges::reverse(kept);
  alignment.pairs = std::move(kept);
  return alignment;
}

}  // namespace driftscope::convert
