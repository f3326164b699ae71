#include "core/bench/memory_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/statistics/trend.hpp"
#include "core/trace/run_fact.hpp"
#include "generated/documents/memory_runs.hpp"

namespace driftscope {
namespace {

constexpr double growth_confidence = 0.99;
constexpr std::size_t fewest_samples = 12;  // behind the warm-up: six for each half's slope
constexpr const char* memory_key = "memory_runs";

constexpr std::array<std::pair<MemoryEnd, std::string_view>, 4> end_names = {{{MemoryEnd::runs, "runs"},
                                                                              {MemoryEnd::decided, "decided"},
                                                                              {MemoryEnd::time, "time"},
                                                                              {MemoryEnd::memory, "memory"}}};

/// Whether it contains JavaScript garbage, which is freed late: Chromium accumulated 40 MB in 1600 runs of
/// LeNet-5 before freeing it.
bool is_collected(std::string_view kind) { return kind == "process_tree_pss" || kind == "node_pss"; }
constexpr double collected_floor = 64e6;
constexpr double counted_floor = 4096.0;

/// Of a process that serves others meanwhile: what their connections may take beside each other.
constexpr std::string_view shared_prefix = "shared_";
constexpr double shared_floor = 16e6;

double floor_of(std::string_view kind) {
  if (is_collected(kind)) return collected_floor;
  return kind.starts_with(shared_prefix) ? shared_floor : 0.0;
}

/// How far the samples are from the line through them, in the median.
double scatter(std::span<const double> runs, std::span<const double> bytes, double per_run) {
  std::vector<double> rest;
  for (std::size_t i = 0; i < runs.size(); ++i) rest.push_back(bytes[i] - per_run * runs[i]);
  return median_absolute_deviation(rest);
}

bool rises(std::span<const double> runs, std::span<const double> bytes, double at_least) {
  const auto part = slope(runs, bytes, growth_confidence);
  return part && part->value >= at_least;
}

/// "+1.2 kB", "−3 B".
std::string signed_bytes(double bytes) {
  const auto size = static_cast<std::int64_t>(std::llround(std::fabs(bytes)));
  if (size == 0) return "0 B";
  const std::string text =
      size < 1000 ? fmt::format("{} B", size)
                  : fmt::format("{:.3g} {}", static_cast<double>(size) / (size < 1'000'000 ? 1e3 : 1e6),
                                size < 1'000'000 ? "kB" : "MB");
  return (bytes < 0.0 ? "−" : "+") + text;
}

std::string end_text(const MemoryOverRuns& memory) {
  switch (memory.end) {
    case MemoryEnd::runs:
    case MemoryEnd::decided: return {};
    case MemoryEnd::time: return ", stopped by the time limit";
    case MemoryEnd::memory: break;
  }
  return ", stopped before it took all memory";
}

/// What a file may say: a double holds it exactly, and as an integer again.
bool is_count(std::int64_t value) { return value >= 0 && value <= std::int64_t{1} << 53; }

documents::MemoryKind kind_of(const MemorySeries& series) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const GrowthEstimate estimate = estimate_growth(series);
  const auto& interval = estimate.per_run.interval;
  documents::MemoryKind kind;
  kind.kind = series.kind;
  kind.exact = series.exact;
  kind.verdict = growth_name(estimate.growth);
  kind.bytes_per_run = interval ? estimate.per_run.value : unknown;
  kind.low = interval ? interval->low : unknown;
  kind.high = interval ? interval->high : unknown;
  for (std::size_t i = 0; i < series.runs.size(); ++i)
    kind.samples.push_back(
        {static_cast<std::int64_t>(series.runs[i]), static_cast<std::int64_t>(series.bytes[i])});
  return kind;
}

}  // namespace

std::string memory_kind_text(std::string kind) {
  if (kind == "process_pss") return "process";
  if (kind == "process_tree_pss") return "all processes";
  if (kind == "gpu_process_pss") return "GPU process";
  if (kind == "node_pss") return "Node process";
  if (kind.starts_with(shared_prefix))
    return memory_kind_text(kind.substr(shared_prefix.size())) + " of a process that serves others";
  std::ranges::replace(kind, '_', ' ');
  return kind;
}

std::string shared_memory_kind(std::string_view kind) { return std::string(shared_prefix) += kind; }

std::string growth_per_run_text(const GrowthEstimate& estimate) {
  if (!estimate.per_run.interval) return "too few samples";
  const Interval& interval = *estimate.per_run.interval;
  return fmt::format("{} per run ({} to {})", signed_bytes(estimate.per_run.value),
                     signed_bytes(interval.low), signed_bytes(interval.high));
}

std::string_view growth_name(Growth growth) {
  switch (growth) {
    case Growth::flat: return "flat";
    case Growth::grows: return "grows";
    case Growth::unclear: break;
  }
  return "unclear";
}

GrowthEstimate estimate_growth(const MemorySeries& series) {
  const std::size_t warm_up = series.runs.size() / 4;
  const auto runs = std::span(series.runs).subspan(warm_up);
  const auto bytes = std::span(series.bytes).subspan(warm_up);
  if (runs.size() < fewest_samples) return {};
  const auto found = slope(runs, bytes, growth_confidence);
  if (!found || !found->interval) return {};
  GrowthEstimate estimate{Growth::unclear, *found};
  const double level = median(bytes);
  const double matters = series.exact ? std::max(32.0, 1e-6 * level) : std::max(256.0, 1e-5 * level);
  if (found->interval->high <= matters) {
    estimate.growth = Growth::flat;
    return estimate;
  }
  const double rise = found->value * (runs.back() - runs.front());
  const double noise =
      series.exact
          ? counted_floor
          : std::max({floor_of(series.kind), 0.01 * level, 4.0 * scatter(runs, bytes, found->value)});
  const std::size_t half = runs.size() / 2;
  const double share = 0.25 * found->value;
  if (found->interval->low > 0.0 && rise > noise && rises(runs.first(half), bytes.first(half), share) &&
      rises(runs.subspan(half), bytes.subspan(half), share))
    estimate.growth = Growth::grows;
  return estimate;
}

bool growth_is_decided(std::span<const MemorySeries> all) {
  bool decided = true;
  for (const MemorySeries& series : all) {
    const Growth growth = estimate_growth(series).growth;
    if (growth == Growth::grows && series.exact) return true;
    decided = decided && growth != Growth::unclear;
  }
  return decided && !all.empty();
}

Growth growth_of(const MemoryOverRuns& memory) {
  Growth worst = memory.series.empty() ? Growth::unclear : Growth::flat;
  for (const MemorySeries& series : memory.series) worst = std::max(worst, estimate_growth(series).growth);
  return worst;
}

std::string memory_over_runs_text(const MemoryOverRuns& memory) {
  std::string text =
      fmt::format("memory over {} runs{}: {}", memory.runs, end_text(memory), growth_name(growth_of(memory)));
  for (const MemorySeries& series : memory.series) {
    const GrowthEstimate estimate = estimate_growth(series);
    text += fmt::format("; {} {}, {}", memory_kind_text(series.kind), growth_name(estimate.growth),
                        growth_per_run_text(estimate));
  }
  return text;
}

void add_memory_over_runs(Trace& trace, const MemoryOverRuns& memory) {
  documents::MemoryRuns fact;
  fact.runs = memory.runs;
  fact.stopped =
      std::ranges::find(end_names, memory.end, &std::pair<MemoryEnd, std::string_view>::first)->second;
  fact.verdict = growth_name(growth_of(memory));
  fact.text = memory_over_runs_text(memory);
  for (const MemorySeries& series : memory.series) fact.kinds.push_back(kind_of(series));
  set_run_fact(trace, memory_key, encode(fact));
}

std::optional<MemoryOverRuns> memory_over_runs_of(const Trace& trace) {
  const auto fact = run_fact<documents::MemoryRuns>(trace, memory_key);
  if (!fact || !is_count(fact->runs)) return std::nullopt;
  MemoryOverRuns memory{.runs = fact->runs};
  for (const auto& [end, name] : end_names)
    if (fact->stopped == name) memory.end = end;
  for (const documents::MemoryKind& kind : fact->kinds) {
    MemorySeries& series = memory.series.emplace_back(MemorySeries{.kind = kind.kind, .exact = kind.exact});
    for (const std::vector<std::int64_t>& sample : kind.samples) {
      // A slope needs runs that ascend.
      if (sample.size() != 2 || !is_count(sample[0]) || !is_count(sample[1]) ||
          (!series.runs.empty() && !(static_cast<double>(sample[0]) > series.runs.back())))
        return std::nullopt;
      series.runs.push_back(static_cast<double>(sample[0]));
      series.bytes.push_back(static_cast<double>(sample[1]));
    }
  }
  return memory;
}

}  // namespace driftscope
