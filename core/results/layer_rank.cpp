#include "core/results/layer_rank.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {

double relative_error(const ResultCell& cell, MetricSource source) {
  const bool verify = source == MetricSource::verify;
  const double different =
      cell[verify ? verified_metric("different_elements") : compared_metric("different_elements")];
  if (different == 0.0) return 0.0;
  return std::pow(10.0, -cell[verify ? verified_metric("sqnr_db") : compared_metric("sqnr_db")] / 20.0);
}

LayerRank rank_of(const LayerTable& layers, std::size_t row) {
  LayerRank rank;
  const auto consider = [&](int tier, double weight, std::size_t target) {
    if (tier < rank.tier || (tier == rank.tier && !(weight > rank.weight))) return;
    rank = {tier, std::isnan(weight) ? INFINITY : weight, target};
  };
  const auto early = -static_cast<double>(row);  // earlier layers rank higher
  rank.weight = -INFINITY;
  for (std::size_t t = 0; t < layers.targets().size(); ++t) {
    const ResultCell cell = layers.cell(row, t);
    if (concern_of(cell.verdict) == Concern::certain) consider(fault_tier, early, t);
    if (concern_of(cell.verdict) == Concern::possible) consider(5, cell[verified_metric("budget_used")], t);
    if (layers.is_folded(row)) continue;
    if (concern_of(cell.verdict) == Concern::open) consider(4, early, t);
    if (!cell.differs()) continue;
    const auto& first = layers.targets()[t]->comparison->first_divergence;
    if (first && *first == layers.rows()[row].node) consider(3, early, t);
    if (cell.inherited)
      consider(1, relative_error(cell, MetricSource::compare), t);
    else
      consider(2, cell.verified ? cell[verified_metric("budget_used")] : INFINITY, t);
  }
  return rank;
}

std::vector<RankedLayer> ranked_layers(const LayerTable& layers) {
  std::vector<RankedLayer> ranked;
  for (std::size_t row = 0; row < layers.rows().size(); ++row) ranked.push_back({rank_of(layers, row), row});
  std::ranges::sort(ranked, [](const RankedLayer& a, const RankedLayer& b) {
    if (a.rank.tier != b.rank.tier) return a.rank.tier > b.rank.tier;
    if (a.rank.weight != b.rank.weight) return a.rank.weight > b.rank.weight;
    return a.row < b.row;
  });
  return ranked;
}

std::vector<std::size_t> slowest_layers(const LayerTable& layers) {
  std::vector<double> largest(layers.rows().size(), 0.0);
  for (std::size_t t = 0; t < layers.targets().size(); ++t) {
    double total = 0.0;
    std::size_t timed = 0;
    for (std::size_t row = 0; row < largest.size(); ++row) {
      total += static_cast<double>(layers.cell(row, t).time_ns());
      timed += layers.cell(row, t).time_ns() > 0 ? 1 : 0;
    }
    // A runtime that reports only the time of the whole run has it at the last node.
    if (timed == 1 && largest.size() > 1) continue;
    for (std::size_t row = 0; row < largest.size() && total > 0.0; ++row)
      largest[row] = std::max(largest[row], static_cast<double>(layers.cell(row, t).time_ns()) / total);
  }
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < largest.size(); ++row)
    if (largest[row] > 0.0) rows.push_back(row);
  std::ranges::sort(rows, [&](std::size_t a, std::size_t b) {
    return largest[a] == largest[b] ? a < b : largest[a] > largest[b];
  });
  return rows;
}

}  // namespace driftscope
