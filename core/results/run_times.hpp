// How long a target takes for the whole model: "times" in a trace's `run`. Unwatched runs keep no value and
// no time of a node, so that the engine works as it does for its users: their time is the target's. Watched
// runs are those that were recorded; a runtime whose every value is made an output takes several times as
// long. Clients: the service (adds them), results, views and checks (read them). Nothing here measures.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.hpp"

namespace driftscope {

struct UnwatchedTimes {
  double first_ns = 0.0;            ///< first run of a new session, without preparing it
  std::int64_t runs = 0;            ///< all of them, warm-up included
  std::vector<double> readings_ns;  ///< once warm, per run: medians of slices of runs that follow one another
  std::string error;                ///< why there are none; else empty
};

struct RunTimes {
  std::vector<std::int64_t> watched_ns;  ///< one per repetition
  std::optional<UnwatchedTimes> unwatched;
};

/// {"watched_ns":[…],"unwatched":{"median_ns","first_ns","runs","readings_ns":[…]} or {"error"}}
[[nodiscard]] nlohmann::ordered_json run_times_json(const RunTimes& times);
/// Adds them to the trace's `run`, in place of those that it has.
void set_run_times(Trace& trace, const RunTimes& times);
/// Nothing where the trace says nothing (a file that others made) or what it says is malformed.
[[nodiscard]] std::optional<RunTimes> run_times_of(const Trace& trace);

/// Why there are no unwatched ones.
void set_unwatched_error(Trace& trace, std::string why);
/// Gives `trace` the times of nodes and runs that `measured`, of the same model and target, has.
void take_times(Trace& trace, const Trace& measured);

/// What a time is that of.
enum class TimeKind {
  unknown,
  layers,     ///< the sum of the layers, where nothing else is known
  watched,    ///< whole runs that were recorded
  unwatched,  ///< whole runs that were not: what users wait for
};
[[nodiscard]] std::string_view time_kind_name(TimeKind kind);
[[nodiscard]] std::optional<TimeKind> time_kind_named(std::string_view name);

/// The time of one run of the whole model. It is compared with times of the same kind alone.
struct RunTime {
  double ns = 0.0;  ///< steady, where there are several runs
  TimeKind kind = TimeKind::unknown;
  double first_ns = 0.0;  ///< unwatched ones: the first run; else 0
  std::int64_t runs = 0;  ///< behind the figure
  /// What the times of single layers are: "by the runtime's own profiler", "timestamps of the GPU",
  /// "watched"; "unknown" where the runtime reports none.
  std::string layers = "unknown";
  std::string error = {};  ///< why there is no unwatched time, though it was asked for
};
/// Of the best kind that the trace has.
[[nodiscard]] RunTime run_time(const Trace& trace);

}  // namespace driftscope
