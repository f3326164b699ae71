
#include "core/base/json.hpp"
#include "core/base/json_number.hpp"
#include "core/report/bench_view.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

ordered_json parsed(const std::string& text) {
  ordered_json value = parse_ordered_json(text);
  return value.is_discarded() ? ordered_json::object() : value;
}

ordered_json known(std::int64_t bytes) { return bytes > 0 ? ordered_json(bytes) : ordered_json(nullptr); }

ordered_json ms(double ns) { return json_number(ns * 1e-6); }

/// [low, high] in units of `unit`; null when there is none.
ordered_json interval_json(const std::optional<Interval>& interval, double unit = 1.0) {
  if (!interval) return nullptr;
  return {json_number(interval->low * unit), json_number(interval->high * unit)};
}

ordered_json slope_json(const std::optional<Estimate>& slope) {
  if (!slope) return nullptr;
  return {{"per_run", json_number(slope->value)}, {"interval", interval_json(slope->interval)}};
}

std::string_view end_name(BenchEnd end) {
  switch (end) {
    case BenchEnd::precise: return "precise";
    case BenchEnd::time: return "time";
    case BenchEnd::runs: return "runs";
    case BenchEnd::failed: return "failed";
    case BenchEnd::stopped: return "stopped";
  }
  return "stopped";
}

ordered_json row_json(const BenchRow& row, double confidence) {
  const BenchFigures figures = bench_figures(row, confidence);
  ordered_json object = {
      {"model", row.model},
      {"target", row.target},
      {"batch", row.batch},
      {"capture", row.capture},
      {"load_ms", json_number(row.load_ms)},
      {"first_ms", json_number(row.first_ms)},
      {"median_ms", ms(figures.median.value)},
      {"median_interval_ms", interval_json(figures.median.interval, 1e-6)},
      {"p95_ms", ms(figures.p95)},
      {"min_ms", ms(figures.min)},
      {"mad_ms", ms(figures.mad)},
      {"runs", figures.runs},
      {"rounds", row.series.rounds.size()},
      {"inner_runs", row.series.inner},
      {"clock_ns", json_number(row.clock_ns)},
      {"warm_up_runs", row.series.warm_up_runs},
      {"steady", row.series.steady},
      {"ended_by", end_name(row.series.end)},
      {"throughput_per_s", json_number(figures.throughput_per_s)},
      {"product_flop", row.flop > 0.0 ? json_number(row.flop) : ordered_json(nullptr)},
      {"gflop_per_s", row.flop > 0.0 ? json_number(figures.gflop_per_s) : ordered_json(nullptr)},
      {"wasm_heap_peak_bytes", known(row.wasm_heap_peak_bytes)},
      {"process_peak_bytes", known(row.process_peak_bytes)},
      {"download_bytes", known(row.download.bytes)}};
  if (row.series.error) object["error"] = row.series.error->message;
  object["download"] = {{"bytes", row.download.bytes},
                        {"raw_bytes", row.download.raw_bytes},
                        {"engine_bytes", row.download.engine_bytes},
                        {"engine_raw_bytes", row.download.engine_raw_bytes},
                        {"model_bytes", row.download.model_bytes}};
  object["start_ms"] = json_number(row.start_ms);
  for (const auto& [part, time] : row.load_parts) object["load"][part] = json_number(time);
  object["alive"] = {{"tensors", figures.alive_tensors},
                     {"bytes", figures.alive_bytes},
                     {"tensors_slope", slope_json(figures.alive_slope)},
                     {"heap_bytes_slope", slope_json(figures.heap_slope)}};
  object["model_sha256"] = row.model_sha256;
  object["build"] = row.build;
  object["ran"] = parsed(row.ran);
  return object;
}

}  // namespace

std::string bench_json(const BenchReport& report) {
  ordered_json object = {{"format", "driftscope-bench-1"},
                         {"build", report.build},
                         {"machine", parsed(report.machine)},
                         {"confidence", report.limits.confidence},
                         {"precision", report.limits.precision},
                         {"input", report.input},
                         {"notes", report.notes}};
  object["results"] = ordered_json::array();
  object["ratios"] = ordered_json::array();
  object["geometric_means"] = ordered_json::array();
  object["failed"] = ordered_json::array();
  for (const BenchRow& row : report.rows) {
    if (row.measured()) object["results"].push_back(row_json(row, report.limits.confidence));
    const Error* error = row.error ? &*row.error : row.series.error ? &*row.series.error : nullptr;
    if (error != nullptr)
      object["failed"].push_back(
          {{"model", row.model}, {"target", row.target}, {"batch", row.batch}, {"error", error->message}});
  }
  for (const BenchRatio& ratio : report.ratios)
    object["ratios"].push_back({{"model", ratio.model},
                                {"target", ratio.target},
                                {"base", ratio.base},
                                {"base_untraced", ratio.untraced},
                                {"group", ratio.group},
                                {"times_as_fast", json_number(ratio.times_as_fast.value)},
                                {"interval", interval_json(ratio.times_as_fast.interval)}});
  for (const BenchMean& mean : report.means)
    object["geometric_means"].push_back({{"target", mean.target},
                                         {"base", mean.base},
                                         {"base_untraced", mean.untraced},
                                         {"group", mean.group},
                                         {"models", mean.models},
                                         {"times_as_fast", json_number(mean.times_as_fast.value)},
                                         {"interval", interval_json(mean.times_as_fast.interval)}});
  return json_text(object, 1);
}

}  // namespace driftscope
