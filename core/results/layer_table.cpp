#include "core/results/layer_table.hpp"

#include <unordered_map>

namespace driftscope {
namespace {

Verdict verdict_of(const LayerCell& cell, bool is_left) {
  if (is_left) return cell.verified != nullptr ? cell.verified->verdict : Verdict::missing;
  return cell.difference == nullptr ? Verdict::missing : combined_verdict(*cell.difference, cell.verified);
}

using RowsByName = std::unordered_map<std::string_view, std::vector<std::size_t>>;

/// Calls body(row) for the rows of this name.
template <class Body>
void for_rows(const RowsByName& rows, std::string_view name, const Body& body) {
  if (const auto found = rows.find(name); found != rows.end())
    for (const std::size_t row : found->second) body(row);
}

}  // namespace

LayerIndex::LayerIndex(const ComparisonView& view) {
  targets_.push_back(&view.left);
  for (const TargetResult& right : view.right) targets_.push_back(&right);
  add_rows(view);
  cells_.resize(rows_.size() * targets_.size());
  for (std::size_t t = 0; t < targets_.size(); ++t) fill(t);
}

void LayerIndex::add_rows(const ComparisonView& view) {
  for (const LayerDifference* layer : compared_layers(view))
    rows_.push_back({layer->node, layer->op, layer->output, layer->shape});
  if (!rows_.empty()) return;
  for (const TargetResult* target : targets_) {
    if (!target->verification) continue;
    for (const LayerVerdict& layer : target->verification->layers)
      rows_.push_back({layer.node, layer.op, layer.output, layer.shape});
    return;
  }
}

void LayerIndex::fill(std::size_t t) {
  const TargetResult& target = *targets_[t];
  RowsByName by_output;
  RowsByName by_node;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    by_output[rows_[row].output].push_back(row);
    by_node[rows_[row].node].push_back(row);
  }
  const auto at = [&](std::size_t row) -> LayerCell& { return cells_[row * targets_.size() + t]; };
  // The first of a name counts, as where it is searched for.
  const auto keep_first = [](const auto*& place, const auto& one) {
    if (place == nullptr) place = &one;
  };
  if (target.comparison)
    for (const LayerDifference& layer : target.comparison->layers)
      for_rows(by_output, layer.output, [&](std::size_t row) { keep_first(at(row).difference, layer); });
  if (target.verification)
    for (const LayerVerdict& layer : target.verification->layers)
      for_rows(by_output, layer.output, [&](std::size_t row) { keep_first(at(row).verified, layer); });
  if (target.trace) {
    for (const NamedTensor& named : target.trace->tensors)
      for_rows(by_output, named.name, [&](std::size_t row) { keep_first(at(row).tensor, named.tensor); });
    for (const NodeRecord& node : target.trace->nodes)
      for_rows(by_node, node.name, [&](std::size_t row) { at(row).time_ns = steady_time_ns(node); });
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    LayerCell& cell = at(row);
    cell.recorded = cell.tensor != nullptr;
    cell.verdict = verdict_of(cell, t == 0);
    cell.inherited = t > 0 && cell.difference != nullptr && cell.verified != nullptr &&
                     cell.verified->verdict == Verdict::identical &&
                     cell.difference->metrics.different_elements > 0;
  }
}

}  // namespace driftscope
