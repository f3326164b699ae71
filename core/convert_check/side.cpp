#include "core/convert_check/side.hpp"

#include <algorithm>

#include "core/graph/constant_nodes.hpp"

namespace driftscope::convert {

Side::Side(const Graph* graph, const Trace& trace, const std::set<std::string, std::less<>>* own)
    : graph_(graph), own_(own), tensors_(trace), trace_(&trace) {
  if (graph_ != nullptr)
    list_graph();
  else
    list_trace();
  for (std::size_t i = 0; i < values_.size(); ++i) places_.emplace(values_[i].name, i);
}

void Side::list_graph() {
  constant_ = constant_nodes(*graph_);
  const auto add = [&](ValueId id, const Node* node) {
    const Tensor* const tensor = tensors_.find(graph_->values[id].name);
    if (tensor == nullptr || (own_ != nullptr && !own_->contains(graph_->values[id].name))) return;
    values_.push_back({graph_->values[id].name, node == nullptr ? "" : node->name,
                       node == nullptr ? "" : node->op_type, tensor, node == nullptr,
                       std::ranges::find(graph_->outputs, id) != graph_->outputs.end()});
  };
  for (const ValueId id : graph_->inputs) add(id, nullptr);
  for (NodeId node = 0; node < graph_->nodes.size(); ++node)
    for (const ValueId id : graph_->nodes[node].outputs)
      if (!constant_[node] && id != no_value) add(id, &graph_->nodes[node]);
}

void Side::list_trace() {
  std::unordered_map<std::string_view, const NodeRecord*> makers;
  for (const NodeRecord& node : trace_->nodes)
    for (const std::string& name : node.outputs) makers.emplace(name, &node);
  const auto add = [&](const std::string& name, const NodeRecord* node) {
    const Tensor* const tensor = tensors_.find(name);
    if (tensor == nullptr || (node != nullptr && node->constant)) return;
    const bool made = node != nullptr || trace_->nodes.empty();
    values_.push_back(
        {name, node == nullptr ? "" : node->name, node == nullptr ? "" : node->op, tensor, !made, false});
  };
  for (const NamedTensor& named : trace_->tensors)
    if (!makers.contains(named.name)) add(named.name, nullptr);
  for (const NodeRecord& node : trace_->nodes)
    for (const std::string& name : node.outputs) add(name, &node);
}

const RecordedValue* Side::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &values_[found->second];
}

std::optional<Tensor> Side::constant(ValueId value) const {
  if (value == no_value) return std::nullopt;
  const Value& one = graph_->values[value];
  if (one.constant) return *one.constant;
  if (one.producer == no_node || !constant_[one.producer]) return std::nullopt;
  const Tensor* const tensor = tensors_.find(one.name);
  return tensor == nullptr ? std::nullopt : std::optional(*tensor);
}

}  // namespace driftscope::convert
