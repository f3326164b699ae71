// Whether memory grows from run to run: samples after runs become a slope with an interval and a verdict, and
// a rule says when enough has been seen. Pure functions. Clients: native/bench (samples), the report, the
// checks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/statistics/statistics.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// One kind of memory, sampled after some of the runs.
struct MemorySeries {
  std::string
      kind;  ///< "heap_in_use", "ort_wasm_heap", "process_pss", "process_tree_pss", "gpu_process_pss",
             ///< "shared_heap_in_use"
  bool exact =
      false;  ///< a count of bytes; else other things move it as well: collectors, caches, other pages
  std::vector<double> runs = {};  ///< done when it was sampled, ascending
  std::vector<double> bytes = {};
};

enum class Growth {
  flat,     ///< the slope's interval ends below the threshold
  unclear,  ///< it does not, but growth is not proven either
  grows,    ///< steadily, and by more than its own noise
};
[[nodiscard]] std::string_view growth_name(Growth growth);

struct GrowthEstimate {
  Growth growth = Growth::unclear;
  Estimate per_run;  ///< bytes, with the interval at 99 %; of the samples behind the warm-up
};

/// Theil and Sen's slope (trend.hpp) of all but the first quarter. It grows where the interval lies above 0,
/// both halves rise as well (one step, as of a cache that is filled, is not a leak), and the rise is beyond
/// the noise: 4 KiB of an exact kind; else 1 % of the memory and four times the median deviation from the
/// line, of processes with JavaScript's garbage in them 64 MB, and of one that serves others meanwhile 16 MB.
[[nodiscard]] GrowthEstimate estimate_growth(const MemorySeries& series);

/// Whether more runs can change nothing: an exact kind grows, or every kind is flat or grows.
[[nodiscard]] bool growth_is_decided(std::span<const MemorySeries> all);

/// Why sampling ended.
enum class MemoryEnd { runs, decided, time, memory };

struct MemoryOverRuns {
  std::int64_t runs = 0;
  MemoryEnd end = MemoryEnd::runs;
  std::vector<MemorySeries> series = {};
};

/// The worst of all kinds: grows, unclear, flat.
[[nodiscard]] Growth growth_of(const MemoryOverRuns& memory);

/// "heap in use", "all processes".
[[nodiscard]] std::string memory_kind_text(std::string kind);
/// The name of this kind in a process that serves others meanwhile; it is never exact.
[[nodiscard]] std::string shared_memory_kind(std::string_view kind);
/// "+1.2 kB per run (+1.1 kB to +1.3 kB)".
[[nodiscard]] std::string growth_per_run_text(const GrowthEstimate& estimate);

/// "memory over 200 runs: grows; heap in use +262 kB ± 0 B per run, process +263 kB ± 1.2 kB per run".
[[nodiscard]] std::string memory_over_runs_text(const MemoryOverRuns& memory);

/// As "memory_runs" of a trace's `run`: {"runs","stopped","verdict","kinds":[{"kind","verdict",
/// "bytes_per_run","low","high","samples":[[run,bytes],…]}]}, and read again; nothing where it is absent or
/// malformed.
void add_memory_over_runs(Trace& trace, const MemoryOverRuns& memory);
[[nodiscard]] std::optional<MemoryOverRuns> memory_over_runs_of(const Trace& trace);

}  // namespace driftscope
