// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/nonfinite_holders.hpp"

#include <vector>

#include "core/verify/nonfinite.hpp"

namespace driftscope {

NonFiniteHolders::NonFiniteHolders(const Graph& graph, const RecordedValues& recorded,
                                   std::span<const LayerVerdict> layers)
    : graph_(graph), recorded_(recorded) {
  for (const LayerVerdict& layer : layers) layers_.emplace(layer.output, &layer);
}

std::optional<bool> NonFiniteHolders::holds(ValueId id) const {
  const Value& value = graph_.values[id];
  if (const LayerVerdict* const found = layer(value.name)) return found->metrics.nan + found->metrics.inf > 0;
  if (value.producer != no_node || (!value.constant && recorded_[id] == nullptr)) return std::nullopt;
  if (value.dtype != DType::undefined && !is_floating(value.dtype)) return false;
  const Result<Tensor> tensor = value.constant ? Result<Tensor>(*value.constant) : recorded_.load(id);
  if (!tensor.ok() || !tensor->in_memory()) return false;
  Metrics metrics;
  count_nonfinite(*tensor, metrics);
  return metrics.nan + metrics.inf > 0;
}

bool NonFiniteHolders::reads_finite(const Node& node) const {
  std::vector<bool> seen(graph_.values.size());
  std::vector<ValueId> open = node.reads();
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (id == no_value || seen[id]) continue;
    seen[id] = true;
    const std::optional<bool> held = holds(id);
    if (held == true) return false;
    if (held == false) continue;
    const NodeId producer = graph_.values[id].producer;
    if (producer == no_node) return false;
    for (const ValueId input : graph_.nodes[producer].reads()) open.push_back(input);
  }
  return true;
}

const LayerVerdict* NonFiniteHolders::layer(std::string_view output) const {
  const auto found = layers_.find(output);
  return found == layers_.end() ? nullptr : found->second;
}

}  // namespace driftscope
