#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/report/bench_view.hpp"
#include "core/report/text_table.hpp"

namespace driftscope {
namespace {

// A leaking run loses at least the smallest block, and in total more than allocators keep
// for reuse, which counts as used: glibc alone seven blocks of each of 64 sizes up to a kilobyte.
constexpr double min_heap_leak = 16.0;
constexpr double min_heap_growth = 256 << 10;

std::string time_text(double ns) { return format_ns(std::llround(ns)); }
std::string ms_text(double ms) { return time_text(ms * 1e6); }

/// "± 0.4 %": the wider side of the interval.
std::string spread_text(const Estimate& estimate) {
  if (!estimate.interval) return "–";
  const double wider =
      std::max(estimate.interval->high - estimate.value, estimate.value - estimate.interval->low);
  return fmt::format("± {:.1f} %", 100.0 * wider / estimate.value);
}

/// "1.62× [1.58, 1.66]".
std::string ratio_text(const Estimate& ratio, int digits = 2) {
  if (!ratio.interval) return fmt::format("{:.{}f}×", ratio.value, digits);
  return fmt::format("{:.{}f}× [{:.{}f}, {:.{}f}]", ratio.value, digits, ratio.interval->low, digits,
                     ratio.interval->high, digits);
}

std::vector<std::string> models_of(const BenchReport& report) {
  std::vector<std::string> models;
  for (const BenchRow& row : report.rows)
    if (std::ranges::find(models, row.model) == models.end()) models.push_back(row.model);
  return models;
}

/// Bases that rows of this report are compared with, as the user named them.
std::vector<std::string> bases_of(const BenchReport& report) {
  std::vector<std::string> bases;
  for (const BenchRatio& ratio : report.ratios)
    for (const BenchRow& row : report.rows)
      if (!ratio.untraced && row.target == ratio.base &&
          std::ranges::find(bases, row.base_name) == bases.end())
        bases.push_back(row.base_name);
  return bases;
}

const BenchRatio* find_ratio(const BenchReport& report, const BenchRow& row, const std::string& base) {
  for (const BenchRatio& ratio : report.ratios) {
    if (ratio.untraced || ratio.model != row.model || ratio.group != row.group || ratio.target != row.target)
      continue;
    for (const BenchRow& other : report.rows)
      if (other.base_name == base && other.target == ratio.base && other.model == row.model &&
          other.group == row.group)
        return &ratio;
  }
  return nullptr;
}

/// "pc/fast", "pc/fast in build/old".
std::string row_name(const BenchRow& row) {
  return row.reference.empty() ? row.target : row.target + " in " + row.reference;
}

/// The cost of recording for this row: how many times as fast it is as unrecorded.
std::string untraced_text(const BenchReport& report, const BenchRow& row) {
  for (const BenchRatio& ratio : report.ratios)
    if (ratio.untraced && ratio.model == row.model && ratio.group == row.group && ratio.target == row.target)
      return ratio_text(ratio.times_as_fast);
  return "";
}

std::string model_table(const BenchReport& report, const std::string& model) {
  const auto any = [&](const auto& has) {
    return std::ranges::any_of(
        report.rows, [&](const BenchRow& row) { return row.model == model && row.measured() && has(row); });
  };
  const bool batches = any([](const BenchRow& row) { return row.batch != 1; });
  const bool captures = any([](const BenchRow& row) { return row.capture != "none"; });
  const bool downloads = any([](const BenchRow& row) { return row.download.bytes > 0; });
  const bool heaps = any([](const BenchRow& row) { return row.wasm_heap_peak_bytes > 0; });
  const bool products = any([](const BenchRow& row) { return row.flop > 0.0; });
  const std::vector<std::string> bases = bases_of(report);
  TextTable table;
  table.column("target", Align::left);
  if (batches) table.column("batch", Align::right);
  if (captures) table.column("trace", Align::left);
  for (const char* title : {"load", "first", "median", "", "p95", "min", "MAD", "runs"})
    table.column(title, Align::right);
  if (batches) table.column("per second", Align::right);
  if (products) table.column("GFLOP/s", Align::right);
  for (const std::string& base : bases) table.column("× " + base, Align::left);
  const bool untraced = std::ranges::any_of(report.ratios, &BenchRatio::untraced);
  if (untraced) table.column("× untraced", Align::left);
  if (heaps) table.column("wasm heap", Align::right);
  table.column("memory", Align::right);
  if (downloads) table.column("download", Align::right);
  for (const BenchRow& row : report.rows) {
    if (row.model != model || !row.measured()) continue;
    const BenchFigures figures = bench_figures(row, report.limits.confidence);
    std::vector<std::string> cells = {row_name(row)};
    if (batches) cells.push_back(std::to_string(row.batch));
    if (captures) cells.push_back(row.capture);
    for (const double ms : {row.load_ms, row.first_ms}) cells.push_back(ms_text(ms));
    cells.push_back(time_text(figures.median.value));
    cells.push_back(spread_text(figures.median));
    for (const double ns : {figures.p95, figures.min, figures.mad}) cells.push_back(time_text(ns));
    cells.push_back(std::to_string(figures.runs));
    if (batches) cells.push_back(fmt::format("{:.4g}", figures.throughput_per_s));
    if (products) cells.push_back(fmt::format("{:.3g}", figures.gflop_per_s));
    for (const std::string& base : bases) {
      const BenchRatio* ratio = find_ratio(report, row, base);
      cells.push_back(ratio != nullptr ? ratio_text(ratio->times_as_fast) : "");
    }
    if (untraced) cells.push_back(untraced_text(report, row));
    if (heaps) cells.push_back(format_bytes(row.wasm_heap_peak_bytes));
    cells.push_back(format_bytes(row.process_peak_bytes));
    if (downloads) cells.push_back(format_bytes(row.download.bytes));
    table.row(std::move(cells));
  }
  return table.text();
}

/// What a reader of the figures must know about this row.
std::string remarks(const BenchRow& row, const BenchLimits& limits) {
  std::string text;
  const auto remark = [&](const std::string& line) {
    text += fmt::format("  {}: {}\n", row_name(row), line);
  };
  if (row.error) remark(row.error->message);
  if (row.series.error) remark("ended early: " + row.series.error->message);
  if (!row.measured()) return text;
  const BenchFigures figures = bench_figures(row, limits.confidence);
  if (row.series.end == BenchEnd::time || row.series.end == BenchEnd::runs)
    remark(fmt::format("{} reached before the median was known to ± {:.3g} %",
                       row.series.end == BenchEnd::time ? "--time" : "--runs", 100.0 * limits.precision));
  if (!figures.median.interval)
    remark(fmt::format("{} rounds are too few for an interval", row.series.rounds.size()));
  if (!row.series.steady) remark("still changing when warm-up ended");
  const auto leak = [&](const std::optional<Estimate>& slope, double threshold, std::string_view what) {
    if (slope && slope->interval && slope->interval->low > threshold)
      remark(fmt::format("a leak: each run leaves {:.3g} {} behind [{:.3g}, {:.3g}]", slope->value, what,
                         slope->interval->low, slope->interval->high));
  };
  leak(figures.alive_slope, 0.0, "tensors");
  const auto runs = static_cast<double>(std::max<std::int64_t>(1, figures.runs));
  leak(figures.heap_slope, std::max(min_heap_leak, min_heap_growth / runs), "bytes of heap");
  return text;
}

std::string means_table(const BenchReport& report) {
  TextTable table;
  table.column("geometric mean", Align::left);
  table.column("models", Align::right);
  table.column("times as fast as", Align::left);
  table.column("", Align::left);
  for (const BenchMean& mean : report.means)
    table.row({mean.target, std::to_string(mean.models), mean.untraced ? "itself, untraced" : mean.base,
               ratio_text(mean.times_as_fast)});
  return table.text();
}

/// Of one model; of all together where it is empty.
std::string contrasts_table(const BenchReport& report, const std::string& model) {
  const auto of_model = [&](const BenchContrast& one) { return one.model == model; };
  const bool several_groups = std::ranges::any_of(report.contrasts, [&](const BenchContrast& one) {
    return one.group != report.contrasts.front().group;
  });
  TextTable table;
  table.column("against " + report.against, Align::left);
  if (several_groups) table.column("of", Align::left);
  table.column("time", Align::left);
  table.column("", Align::left);
  table.column("times as fast", Align::left);
  table.column("would have seen", Align::right);
  for (const BenchContrast& one : report.contrasts) {
    if (!of_model(one)) continue;
    std::vector<std::string> cells = {one.models > 1 ? fmt::format("{}, {} models", one.target, one.models)
                                                     : one.target};
    if (several_groups) cells.push_back(one.group);
    cells.emplace_back(bench_time_words(one.time));
    cells.emplace_back(speed_words(one.contrast.speed));
    cells.push_back(ratio_text(one.contrast.times_as_fast, 3));
    cells.push_back(fmt::format("{:.1f} %", 100.0 * one.contrast.visible));
    table.row(std::move(cells));
  }
  return std::ranges::any_of(report.contrasts, of_model) ? "\n" + table.text() : "";
}

/// How to read the tables of contrasts.
std::string contrasts_legend(const BenchReport& report) {
  std::size_t launches = 0;
  for (const BenchContrast& one : report.contrasts) launches = std::max(launches, one.contrast.launches);
  if (report.contrasts.empty())
    return fmt::format("Nothing was started often enough beside {} to tell which is faster.\n",
                       report.against);
  return fmt::format(
      "Faster or slower: beyond what {} launches of the same differ by. Would have seen: the smallest "
      "difference "
      "that four of five such benches find.\n",
      launches);
}

}  // namespace

std::string bench_table(const BenchReport& report) {
  std::string text;
  for (const std::string& model : models_of(report)) {
    const bool any = std::ranges::any_of(
        report.rows, [&](const BenchRow& row) { return row.model == model && row.measured(); });
    text += fmt::format("{}{}  {}\n", text.empty() ? "" : "\n", model, report.input);
    if (any) text += model_table(report, model);
    for (const BenchRow& row : report.rows)
      if (row.model == model) text += remarks(row, report.limits);
    text += contrasts_table(report, model);
  }
  text += contrasts_table(report, "");
  if (!report.means.empty()) text += "\n" + means_table(report);
  text += fmt::format("\nMedians with {:.3g} % confidence", 100.0 * report.limits.confidence);
  if (!report.ratios.empty()) text += "; ×: how many times as fast as that target";
  if (std::ranges::any_of(report.rows, [](const BenchRow& row) { return row.flop > 0.0; }))
    text += "; GFLOP/s: of the products in Conv, Gemm, MatMul and recurrent nodes alone";
  text += ".\n";
  if (!report.against.empty()) text += contrasts_legend(report);
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

}  // namespace driftscope
