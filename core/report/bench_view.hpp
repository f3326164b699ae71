// A bench as a table for terminals and as JSON ("driftscope-bench-1"). Client: the bench command.
#pragma once

#include <string>

#include "core/bench/bench_report.hpp"

namespace driftscope {

/// One table per model: times, ratios to each base, memory; then the means, and the failures.
[[nodiscard]] std::string bench_table(const BenchReport& report);

/// {"format":"driftscope-bench-1","machine":{…},"results":[{"model","target","load_ms","first_ms",
///  "median_ms","p95_ms","min_ms","mad_ms","runs","throughput_per_s","wasm_heap_peak_bytes",
///  "process_peak_bytes","download_bytes","ran":{…}, and more}],"ratios":[…],"geometric_means":[…],
///  "failed":[{"model","target","error"}]}. Bytes that are not known (a wasm heap on the pc) are null.
[[nodiscard]] std::string bench_json(const BenchReport& report);

}  // namespace driftscope
