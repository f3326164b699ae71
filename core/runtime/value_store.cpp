#include "core/runtime/value_store.hpp"

namespace driftscope {

ValueStore::ValueStore(const Graph& graph)
    : graph_(graph), last_use_(graph.values.size(), no_node), tensors_(graph.values.size()) {
  // Nodes are in topological order, so the last one seen is the last one to run. An output that
  // nobody reads is released by its own node.
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    for (const ValueId output : graph.nodes[id].outputs)
      if (output != no_value) last_use_[output] = id;
    for (const ValueId input : graph.nodes[id].reads())
      if (input != no_value) last_use_[input] = id;
  }
  for (const ValueId output : graph.outputs) last_use_[output] = no_node;
}

void ValueStore::reset() {
  for (auto& tensor : tensors_) tensor.reset();
}

void ValueStore::put(ValueId value, Tensor tensor) { tensors_[value] = std::move(tensor); }

const Tensor* ValueStore::get(ValueId value) const {
  if (value == no_value) return nullptr;
  if (tensors_[value]) return &*tensors_[value];
  const auto& constant = graph_.values[value].constant;
  return constant ? &*constant : nullptr;
}

void ValueStore::node_done(NodeId node) {
  const auto release = [&](ValueId value) {
    if (value != no_value && last_use_[value] == node) tensors_[value].reset();
  };
  for (const ValueId input : graph_.nodes[node].reads()) release(input);
  for (const ValueId output : graph_.nodes[node].outputs) release(output);
}

}  // namespace driftscope
