#include "core/checks/speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/bench/noise.hpp"
#include "core/results/run_times.hpp"

namespace driftscope {
namespace {

constexpr double confidence = 0.99;

bool all_positive(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value) && value > 0.0; });
}

/// Of all layers together in a trace that does not say how long its runs took.
std::vector<double> layer_sums(const Trace& trace) {
  std::size_t runs = 0;
  for (const NodeRecord& node : trace.nodes) runs = std::max(runs, node.time_ns.size());
  std::vector<double> totals(runs, 0.0);
  for (const NodeRecord& node : trace.nodes)
    for (std::size_t i = 0; node.inside.empty() && i < node.time_ns.size(); ++i)
      totals[i] += static_cast<double>(node.time_ns[i]);
  return totals;
}

std::vector<double> watched_times(const Trace& trace, const RunTimes& known) {
  std::vector<double> times(known.watched_ns.begin(), known.watched_ns.end());
  if (times.empty()) times = layer_sums(trace);
  if (times.size() > 1) times.erase(times.begin());
  return times;
}

}  // namespace

SpeedVerdict check_regression(const std::vector<double>& before_ns, const std::vector<double>& now_ns,
                              double share) {
  if (before_ns.empty() || now_ns.empty()) return {Speed::unknown, "no times were recorded"};
  if (!all_positive(before_ns) || !all_positive(now_ns))
    return {Speed::unknown, "a run is shorter than one step of its clock"};
  const std::vector<BuildTimes> sides = {{"before", before_ns}, {"now", now_ns}};
  const BuildChange change = classify_changes(sides, confidence).back();
  const Estimate& ratio = change.times_as_long;
  const std::string allowed = fmt::format("up to {:.3g} is allowed", 1.0 + share);
  if (change.change == Change::unknown || !ratio.interval)
    return {Speed::unknown,
            fmt::format("{:.3g} times as long, but {} and {} runs are too few to know the noise", ratio.value,
                        before_ns.size(), now_ns.size())};
  const std::string text = fmt::format("{:.3g} times as long [{:.3g}, {:.3g}]; {}", ratio.value,
                                       ratio.interval->low, ratio.interval->high, allowed);
  const bool beyond = ratio.value > 1.0 + share;
  if (!beyond) return {Speed::fine, text};
  if (change.change != Change::slower)
    return {Speed::fine, text + "; the runs scatter so much that this may be noise"};
  return {Speed::slower, text};
}

std::optional<double> min_visible_slowdown(const std::vector<double>& times_ns) {
  if (times_ns.empty() || !all_positive(times_ns)) return std::nullopt;
  const std::vector<BuildTimes> sides = {{"before", times_ns}, {"now", times_ns}};
  const BuildChange change = classify_changes(sides, confidence).back();
  if (!change.times_as_long.interval) return std::nullopt;
  return change.times_as_long.interval->high - 1.0;
}

ComparableTimes comparable_times(const Trace& before, const Trace& now) {
  const RunTimes left = run_times_of(before).value_or(RunTimes());
  const RunTimes right = run_times_of(now).value_or(RunTimes());
  const auto readings = [](const RunTimes& times) {
    return times.unwatched ? times.unwatched->readings_ns : std::vector<double>();
  };
  if (!readings(left).empty() && !readings(right).empty()) return {readings(left), readings(right)};
  return {watched_times(before, left), watched_times(now, right)};
}

}  // namespace driftscope
