// The time of a target in words. Clients: tables, the report, the window.
#pragma once

#include <string>

#include "core/results/run_times.hpp"

namespace driftscope {

/// "8.21 ms (median of 120 unwatched runs, first 9.3 ms)", "88.8 ms (watched)", "3.2 ms (sum of the layers)",
/// "unknown".
[[nodiscard]] std::string run_time_text(const RunTime& time);

/// "8.21 ms" alone, and "88.8 ms watched" where it is not that of unwatched runs; "–" where it is unknown.
[[nodiscard]] std::string short_run_time_text(const RunTime& time);

/// What the times of its layers are: "layers: watched"; "layers: not reported by the runtime".
[[nodiscard]] std::string layer_times_text(const RunTime& time);

}  // namespace driftscope
