#include "core/repro/cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace driftscope {

Result<Graph> cut_at(const Graph& graph, const std::string& name) {
  const auto found = graph.find_value(name);
  if (!found || graph.values[*found].producer == no_node)
    return bad_input(fmt::format("'{}' is the output of no node", name));
  const ValueId cut = *found;
  std::vector<bool> value_needed(graph.values.size());
  std::vector<bool> node_needed(graph.nodes.size());
  std::vector<ValueId> open(graph.outputs.begin(), graph.outputs.end());
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (id == no_value || value_needed[id]) continue;
    value_needed[id] = true;
    const NodeId producer = graph.values[id].producer;
    if (id == cut || producer == no_node || node_needed[producer]) continue;
    node_needed[producer] = true;
    const std::vector<ValueId> reads = graph.nodes[producer].reads();
    open.insert(open.end(), reads.begin(), reads.end());
  }
  if (!value_needed[cut]) return bad_input(fmt::format("no output of the model depends on '{}'", name));
  Graph made = graph;
  // Its node may still be needed for another output.
  Value unused;
  unused.name = name + "/not_used";
  unused.producer = graph.values[cut].producer;
  made.values.push_back(unused);
  const auto instead = static_cast<ValueId>(made.values.size() - 1);
  std::ranges::replace(made.nodes[unused.producer].outputs, cut, instead);
  made.values[cut].producer = no_node;
  std::vector<NodeId> places(graph.nodes.size(), no_node);
  std::vector<Node> kept;
  for (NodeId id = 0; id < made.nodes.size(); ++id) {
    if (!node_needed[id]) continue;
    places[id] = static_cast<NodeId>(kept.size());
    kept.push_back(std::move(made.nodes[id]));
  }
  made.nodes = std::move(kept);
  for (ValueId id = 0; id < made.values.size(); ++id) {
    Value& value = made.values[id];
    if (value.producer != no_node) value.producer = places[value.producer];
    if (value.constant && id < value_needed.size() && !value_needed[id]) value.constant.reset();
  }
  std::erase_if(made.inputs, [&](ValueId id) { return !value_needed[id]; });
  made.inputs.push_back(cut);
  return made;
}

}  // namespace driftscope
