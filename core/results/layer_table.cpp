#include "core/results/layer_table.hpp"

#include <map>
#include <unordered_map>

namespace driftscope {
namespace {

using RowsByName = std::unordered_map<std::string_view, std::vector<std::size_t>>;

/// Calls body(row) for the rows of this name.
template <class Body>
void for_rows(const RowsByName& rows, std::string_view name, const Body& body) {
  if (const auto found = rows.find(name); found != rows.end())
    for (const std::size_t row : found->second) body(row);
}

/// The layers that any comparison has, in topological order.
std::vector<const LayerDifference*> compared_layers(const ComparisonView& view) {
  std::map<std::size_t, const LayerDifference*> by_place;
  for (const TargetResult& right : view.right) {
    if (!right.comparison) continue;
    for (const LayerDifference& layer : right.comparison->layers) {
      const auto [entry, added] = by_place.emplace(layer.place, &layer);
      if (!added && !entry->second->recorded) entry->second = &layer;
    }
  }
  std::vector<const LayerDifference*> layers;
  for (const auto& [place, layer] : by_place) layers.push_back(layer);
  return layers;
}

}  // namespace

LayerTable::LayerTable(const ComparisonView& view) {
  targets_.push_back(&view.left);
  for (const TargetResult& right : view.right) targets_.push_back(&right);
  add_rows(view);
  results_ = LayerResults(rows_.size(), targets_.size());
  tensors_.assign(rows_.size() * targets_.size(), nullptr);
  verified_.assign(rows_.size() * targets_.size(), nullptr);
  for (std::size_t t = 0; t < targets_.size(); ++t) fill(t);
}

bool LayerTable::is_folded(std::size_t row) const {
  if (!rows_[row].constant) return false;
  for (std::size_t t = 0; t < targets_.size(); ++t)
    if (is_bad(cell(row, t).verdict)) return false;
  return true;
}

std::size_t LayerTable::folded() const {
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows_.size(); ++row) count += is_folded(row) ? 1 : 0;
  return count;
}

void LayerTable::add_rows(const ComparisonView& view) {
  for (const LayerDifference* layer : compared_layers(view))
    rows_.push_back({layer->node, layer->op, layer->output, layer->shape, layer->constant});
  if (!rows_.empty()) return;
  for (const TargetResult* target : targets_) {
    if (!target->verification) continue;
    for (const LayerVerdict& layer : target->verification->layers)
      rows_.push_back({layer.node, layer.op, layer.output, layer.shape, layer.constant});
    return;
  }
}

void LayerTable::fill(std::size_t t) {
  const TargetResult& target = *targets_[t];
  RowsByName by_output;
  RowsByName by_node;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    by_output[rows_[row].output].push_back(row);
    by_node[rows_[row].node].push_back(row);
  }
  // The first of a name counts.
  const auto keep_first = [](const auto*& place, const auto& one) {
    if (place == nullptr) place = &one;
  };
  const std::size_t begin = t * rows_.size();
  std::vector<const LayerDifference*> differences(rows_.size());
  if (target.comparison)
    for (const LayerDifference& layer : target.comparison->layers)
      for_rows(by_output, layer.output, [&](std::size_t row) { keep_first(differences[row], layer); });
  if (target.verification)
    for (const LayerVerdict& layer : target.verification->layers)
      for_rows(by_output, layer.output, [&](std::size_t row) { keep_first(verified_[begin + row], layer); });
  if (target.trace) {
    for (const NamedTensor& named : target.trace->tensors)
      for_rows(by_output, named.name,
               [&](std::size_t row) { keep_first(tensors_[begin + row], named.tensor); });
    for (const NodeRecord& node : target.trace->nodes)
      for_rows(by_node, node.name,
               [&](std::size_t row) { results_.set_times(row, t, {steady_time_ns(node), 0}); });
  }
  for (std::size_t row = 0; row < rows_.size(); ++row)
    results_.set_findings(row, t, differences[row], verified_[begin + row]);
  results_.compact(t);
}

}  // namespace driftscope
