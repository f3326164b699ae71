#include <algorithm>
#include <limits>

#include "core/base/json.hpp"
#include "core/report/bench_view.hpp"
#include "generated/documents/bench.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

ordered_json parsed(const std::string& text) {
  ordered_json value = parse_ordered_json(text);
  return value.is_discarded() ? ordered_json::object() : value;
}

std::optional<std::int64_t> known(std::int64_t bytes) {
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

double ms(double ns) { return ns * 1e-6; }

/// [low, high] in units of `unit`.
std::optional<std::vector<double>> ends_of(const std::optional<Interval>& interval, double unit = 1.0) {
  if (!interval) return std::nullopt;
  return std::vector{interval->low * unit, interval->high * unit};
}

std::optional<documents::Slope> slope_of(const std::optional<Estimate>& slope) {
  if (!slope) return std::nullopt;
  return documents::Slope{slope->value, ends_of(slope->interval)};
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

documents::BenchResult result_of(const BenchRow& row, double confidence) {
  const BenchFigures figures = bench_figures(row, confidence);
  documents::BenchResult result;
  result.model = row.model;
  result.target = row.target;
  result.reference = row.reference;
  result.batch = row.batch;
  result.capture = row.capture;
  result.load_ms = row.load_ms;
  result.first_ms = row.first_ms;
  result.median_ms = ms(figures.median.value);
  result.median_interval_ms = ends_of(figures.median.interval, 1e-6);
  result.p95_ms = ms(figures.p95);
  result.min_ms = ms(figures.min);
  result.mad_ms = ms(figures.mad);
  result.runs = figures.runs;
  result.rounds = std::ssize(row.series.rounds);
  result.inner_runs = row.series.inner;
  result.clock_ns = row.clock_ns;
  result.warm_up_runs = row.series.warm_up_runs;
  result.steady = row.series.steady;
  result.ended_by = end_name(row.series.end);
  result.throughput_per_s = figures.throughput_per_s;
  result.product_flop = row.flop > 0.0 ? row.flop : unknown;
  result.gflop_per_s = row.flop > 0.0 ? figures.gflop_per_s : unknown;
  result.wasm_heap_peak_bytes = known(row.wasm_heap_peak_bytes);
  result.process_peak_bytes = known(row.process_peak_bytes);
  result.download_bytes = known(row.download.bytes);
  if (row.series.error) result.error = row.series.error->message;
  result.download = row.download;
  result.start_ms = row.start_ms;
  result.load = row.load_parts;
  result.alive = {figures.alive_tensors, figures.alive_bytes, slope_of(figures.alive_slope),
                  slope_of(figures.heap_slope)};
  result.model_sha256 = row.model_sha256;
  result.build = row.build;
  result.ran = parsed(row.ran);
  return result;
}

/// A name of the document: "cannot_tell".
std::string document_name(std::string_view words) {
  std::string name(words);
  std::ranges::replace(name, ' ', '_');
  return name;
}

documents::BenchContrast contrast_of(const BenchContrast& from) {
  documents::BenchContrast result;
  result.model = from.model;
  result.target = from.target;
  result.group = from.group;
  result.time = document_name(bench_time_words(from.time));
  result.speed = document_name(speed_words(from.contrast.speed));
  result.times_as_fast = from.contrast.times_as_fast.value;
  result.interval = ends_of(from.contrast.times_as_fast.interval);
  result.visible = from.contrast.visible;
  result.launches = static_cast<std::int64_t>(from.contrast.launches);
  result.models = static_cast<std::int64_t>(from.models);
  return result;
}

}  // namespace

std::string bench_json(const BenchReport& report) {
  documents::Bench document;
  document.build = report.build;
  document.machine = parsed(report.machine);
  document.confidence = report.limits.confidence;
  document.precision = report.limits.precision;
  document.input = report.input;
  document.notes = report.notes;
  for (const BenchRow& row : report.rows) {
    if (row.measured()) document.results.push_back(result_of(row, report.limits.confidence));
    const Error* error = row.error ? &*row.error : row.series.error ? &*row.series.error : nullptr;
    if (error != nullptr)
      document.failed.push_back({row.model, row.target, row.batch, row.reference, error->message});
  }
  for (const BenchRatio& ratio : report.ratios)
    document.ratios.push_back({ratio.model, ratio.target, ratio.base, ratio.untraced, ratio.group,
                               ratio.times_as_fast.value, ends_of(ratio.times_as_fast.interval)});
  for (const BenchMean& mean : report.means)
    document.geometric_means.push_back({mean.target, mean.base, mean.untraced, mean.group,
                                        static_cast<std::int64_t>(mean.models), mean.times_as_fast.value,
                                        ends_of(mean.times_as_fast.interval)});
  document.against = report.against;
  for (const BenchContrast& one : report.contrasts) document.contrasts.push_back(contrast_of(one));
  return json_text(encode(document), 1);
}

}  // namespace driftscope
