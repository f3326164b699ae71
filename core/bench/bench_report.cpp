#include "core/bench/bench_report.hpp"

#include <algorithm>
#include <tuple>

#include "core/statistics/trend.hpp"

namespace driftscope {
namespace {

/// The slope of `value_of` a slice over the number of runs that came before it.
template <class ValueOf>
std::optional<Estimate> growth(const BenchSeries& series, double confidence, const ValueOf& value_of) {
  std::vector<double> runs;
  std::vector<double> values;
  double done = 0.0;
  // Memory starts again with each launch: the last one stands for all.
  for (const Slice& slice : series_of_launch(series, series.rounds.back().launch).rounds) {
    const std::int64_t readings = slice.unkept + std::ssize(slice.times_ns);
    done += static_cast<double>(readings) * static_cast<double>(slice.inner);
    runs.push_back(done);
    values.push_back(static_cast<double>(value_of(slice)));
  }
  return slope(runs, values, confidence);
}

const BenchRow* find_base(const BenchReport& report, const BenchRow& row, const std::string& base) {
  const auto found = std::ranges::find_if(report.rows, [&](const BenchRow& other) {
    return other.base_name == base && other.model == row.model && other.group == row.group &&
           other.measured();
  });
  return found == report.rows.end() ? nullptr : &*found;
}

/// The same target with the same model and batch, measured without recording.
const BenchRow* find_untraced(const BenchReport& report, const BenchRow& row) {
  const auto found = std::ranges::find_if(report.rows, [&](const BenchRow& other) {
    return other.capture == "none" && other.target == row.target && other.model == row.model &&
           other.batch == row.batch && other.measured();
  });
  return found == report.rows.end() ? nullptr : &*found;
}

}  // namespace

BenchFigures bench_figures(const BenchRow& row, double confidence) {
  BenchFigures figures;
  const auto middle = median_time(row.series, confidence);
  if (!middle) return figures;
  const std::vector<double> times = all_times(row.series);
  figures.median = *middle;
  figures.p95 = quantile(times, 0.95);
  figures.min = std::ranges::min(times);
  figures.mad = median_absolute_deviation(times);
  for (const Slice& slice : row.series.rounds) figures.runs += std::ssize(slice.times_ns) * slice.inner;
  figures.throughput_per_s = static_cast<double>(row.batch) * 1e9 / std::max(middle->value, 1e-3);
  figures.gflop_per_s = row.flop / std::max(middle->value, 1e-3);
  const Slice& last = row.series.rounds.back();
  figures.alive_tensors = last.alive_tensors;
  figures.alive_bytes = last.alive_bytes;
  figures.alive_slope =
      growth(row.series, confidence, [](const Slice& slice) { return slice.alive_tensors; });
  if (last.heap_bytes > 0)
    figures.heap_slope = growth(row.series, confidence, [](const Slice& slice) { return slice.heap_bytes; });
  return figures;
}

void add_ratios(BenchReport& report, const std::vector<std::string>& bases) {
  std::vector<BenchRatio> ratios;
  const auto add = [&](const BenchRow& row, const BenchRow* other, bool untraced) {
    if (other == nullptr || other == &row || !row.measured()) return;
    const auto ratio =
        paired_ratio(round_medians(other->series), round_medians(row.series), report.limits.confidence);
    if (ratio) ratios.push_back({row.model, row.group, row.target, other->target, untraced, *ratio});
  };
  for (const std::string& base : bases)
    for (const BenchRow& row : report.rows) add(row, find_base(report, row, base), false);
  for (const BenchRow& row : report.rows)
    if (row.capture != "none") add(row, find_untraced(report, row), true);
  // In the order in which pairs of target and base first appear.
  using Pair = std::tuple<std::string, std::string, std::string, bool>;
  const auto pair_of = [](const BenchRatio& ratio) {
    return Pair{ratio.group, ratio.target, ratio.base, ratio.untraced};
  };
  std::vector<Pair> pairs;
  for (const BenchRatio& ratio : ratios)
    if (std::ranges::find(pairs, pair_of(ratio)) == pairs.end()) pairs.push_back(pair_of(ratio));
  for (const Pair& pair : pairs) {
    std::vector<Estimate> estimates;
    for (const BenchRatio& ratio : ratios)
      if (pair_of(ratio) == pair) estimates.push_back(ratio.times_as_fast);
    const auto& [group, target, base, untraced] = pair;
    if (estimates.size() > 1)
      report.means.push_back({group, target, base, untraced, estimates.size(), *geometric_mean(estimates)});
  }
  report.ratios = std::move(ratios);
}

}  // namespace driftscope
