#include "core/bench/bench_report.hpp"

#include <algorithm>
#include <tuple>

#include "core/bench/trend.hpp"

namespace driftscope {
namespace {

/// How `value_of` a slice grows with the runs that came before.
template <class ValueOf>
std::optional<Estimate> growth(const BenchCourse& course, double confidence,
                               const ValueOf& value_of) {
  std::vector<double> runs;
  std::vector<double> values;
  double done = 0.0;
  for (const Slice& slice : course.rounds) {
    done += static_cast<double>(slice.times_ns.size()) * static_cast<double>(course.inner);
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

}  // namespace

BenchFigures bench_figures(const BenchRow& row, double confidence) {
  BenchFigures figures;
  const auto middle = median_time(row.course, confidence);
  if (!middle) return figures;
  const std::vector<double> times = all_times(row.course);
  figures.median = *middle;
  figures.p95 = quantile(times, 0.95);
  figures.min = std::ranges::min(times);
  figures.mad = median_absolute_deviation(times);
  figures.runs = std::ssize(times) * row.course.inner;
  figures.throughput_per_s = static_cast<double>(row.batch) * 1e9 / std::max(middle->value, 1e-3);
  const Slice& last = row.course.rounds.back();
  figures.alive_tensors = last.alive_tensors;
  figures.alive_bytes = last.alive_bytes;
  figures.alive_slope =
      growth(row.course, confidence, [](const Slice& slice) { return slice.alive_tensors; });
  if (last.heap_bytes > 0)
    figures.heap_slope =
        growth(row.course, confidence, [](const Slice& slice) { return slice.heap_bytes; });
  return figures;
}

void add_ratios(BenchReport& report, const std::vector<std::string>& bases) {
  std::vector<BenchRatio> ratios;
  for (const std::string& base : bases) {
    for (const BenchRow& row : report.rows) {
      const BenchRow* other = find_base(report, row, base);
      if (other == nullptr || other == &row || !row.measured()) continue;
      const auto ratio = paired_ratio(round_medians(other->course), round_medians(row.course),
                                      report.limits.confidence);
      if (ratio) ratios.push_back({row.model, row.group, row.target, other->target, *ratio});
    }
  }
  // In the order in which pairs of target and base first appear.
  using Pair = std::tuple<std::string, std::string, std::string>;
  std::vector<Pair> pairs;
  for (const BenchRatio& ratio : ratios) {
    const Pair pair{ratio.group, ratio.target, ratio.base};
    if (std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(pair);
  }
  for (const auto& [group, target, base] : pairs) {
    std::vector<Estimate> estimates;
    for (const BenchRatio& ratio : ratios)
      if (ratio.group == group && ratio.target == target && ratio.base == base)
        estimates.push_back(ratio.times_as_fast);
    if (estimates.size() > 1)
      report.means.push_back({group, target, base, estimates.size(), *geometric_mean(estimates)});
  }
  report.ratios = std::move(ratios);
}

}  // namespace driftscope
