#include "core/results/drift.hpp"

#include <algorithm>
#include <cmath>

#include "core/results/layer_rank.hpp"

namespace driftscope {
namespace {

double total_error(const ResultCell& cell, DriftMeasure measure) {
  switch (measure) {
    case DriftMeasure::relative: return relative_error(cell, MetricSource::compare);
    case DriftMeasure::absolute: return cell[compared_metric("max_abs")];
    case DriftMeasure::ulp: return cell[compared_metric("max_ulp")];
    case DriftMeasure::budget: break;
  }
  return cell[verified_metric("budget_used")];
}

double local_error(const ResultCell& cell, DriftMeasure measure) {
  switch (measure) {
    case DriftMeasure::relative: return relative_error(cell, MetricSource::verify);
    case DriftMeasure::absolute: return cell[verified_metric("max_abs")];
    default: return not_measured;
  }
}

bool is_known(double value) { return !std::isnan(value); }

}  // namespace

bool carries_error(DType dtype) {
  return dtype != DType::int64 && dtype != DType::int32 && dtype != DType::boolean;
}

Drift drift_of(const LayerResults& results, std::vector<std::size_t> layers, DriftMeasure measure) {
  Drift drift{measure, std::move(layers), {}, {}};
  for (std::size_t t = 0; t < results.targets(); ++t) {
    DriftSeries series;
    series.target = t;
    for (const std::size_t layer : drift.layers) {
      const ResultCell cell = results.cell(layer, t);
      series.total.push_back(total_error(cell, measure));
      series.local.push_back(local_error(cell, measure));
      series.faults.push_back(cell.verdict == Verdict::fault);
    }
    if (std::ranges::any_of(series.total, is_known) || std::ranges::any_of(series.local, is_known))
      drift.series.push_back(std::move(series));
  }
  return drift;
}

double inherited_error(double total, double local) {
  if (std::isnan(total) || std::isnan(local)) return not_measured;
  if (std::isinf(total)) return std::isinf(local) ? 0.0 : total;
  return std::max(0.0, total - local);
}

std::size_t born_at(const DriftSeries& series) {
  std::size_t born = no_place;
  for (std::size_t i = 0; i < series.total.size(); ++i) {
    if (!(series.total[i] > 0.0) || !(series.local[i] > 0.0)) continue;
    if (born == no_place || series.local[i] > series.local[born]) born = i;
  }
  return born;
}

}  // namespace driftscope
