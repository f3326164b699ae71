// percentile: without the most extreme elements, as many at either end (ONNX Runtime, HistogramCollector::
// compute_percentile): the range ends at the lower edges of the bins where the cumulated share passes both
// limits.
#include <algorithm>

#include "core/quantize/calibration_method.hpp"

namespace driftscope::quantize::methods::percentile {
namespace {

ValueRange range(const Observed& observed, const MethodOptions& options) {
  double total = 0.0;
  for (const std::int64_t count : observed.bins) total += static_cast<double>(count);
  if (total == 0.0) return observed.extremes;
  const double cut = (100.0 - options.percentile) / 200.0;
  const auto edge_at = [&](double share) {
    double sum = 0.0;
    for (std::size_t i = 0; i < observed.bins.size(); ++i) {
      sum += static_cast<double>(observed.bins[i]) / total;
      if (sum >= share) return observed.edge(i);
    }
    return observed.edge(observed.bins.size());
  };
  return {std::max(edge_at(cut), observed.extremes.low),
          std::min(edge_at(1.0 - cut), observed.extremes.high)};
}

}  // namespace

void add_to(MethodTable& table) {
  table.add({.order = 20,
             .name = "percentile",
             .summary = "without the most extreme elements (--percentile)",
             .bins = 2048,
             .range = range});
}

}  // namespace driftscope::quantize::methods::percentile
