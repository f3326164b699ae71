#include "core/results/run_times.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/json.hpp"
#include "core/statistics/statistics.hpp"
#include "core/verify/compare.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

std::optional<double> time_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) && value >= 0.0 ? std::optional(value) : std::nullopt;
}

/// Nothing if an entry is not a time.
std::optional<std::vector<double>> times_in(const json& object, const char* key) {
  std::vector<double> times;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return times;
  for (const json& entry : *found) {
    if (!entry.is_number()) return std::nullopt;
    times.push_back(entry.get<double>());
    if (!std::isfinite(times.back()) || times.back() < 0.0) return std::nullopt;
  }
  return times;
}

std::optional<UnwatchedTimes> unwatched_in(const json& object) {
  if (!object.is_object()) return std::nullopt;
  UnwatchedTimes times;
  if (const auto error = object.find("error"); error != object.end() && error->is_string()) {
    times.error = error->get<std::string>();
    return times;
  }
  const auto first = time_in(object, "first_ns");
  const auto runs = time_in(object, "runs");
  auto readings = times_in(object, "readings_ns");
  constexpr double max_runs = 1e15;
  if (!first || !runs || *runs > max_runs || !readings || readings->empty()) return std::nullopt;
  times.first_ns = *first;
  times.runs = static_cast<std::int64_t>(*runs);
  times.readings_ns = *std::move(readings);
  return times;
}

json run_of(const Trace& trace) {
  json run = parse_json(trace.run);
  return run.is_object() ? run : json::object();
}

std::int64_t layers_time_ns(const Trace& trace) {
  std::int64_t total = 0;
  for (const NodeRecord& node : trace.nodes) total += steady_time_ns(node);
  return total;
}

std::string layer_times_text(const Trace& trace) {
  const bool any =
      std::ranges::any_of(trace.nodes, [](const NodeRecord& node) { return !node.time_ns.empty(); });
  if (!any) return "unknown";
  const json run = run_of(trace);
  const auto options = run.find("options");
  if (options == run.end() || !options->is_object()) return "watched";
  const auto how = options->find("node_times");
  return how != options->end() && how->is_string() ? how->get<std::string>() : "watched";
}

}  // namespace

json run_times_json(const RunTimes& times) {
  json object = json::object();
  if (!times.watched_ns.empty()) object["watched_ns"] = times.watched_ns;
  if (!times.unwatched) return object;
  const UnwatchedTimes& unwatched = *times.unwatched;
  if (!unwatched.error.empty())
    object["unwatched"] = {{"error", unwatched.error}};
  else
    object["unwatched"] = {{"median_ns", median(unwatched.readings_ns)},
                           {"first_ns", unwatched.first_ns},
                           {"runs", unwatched.runs},
                           {"readings_ns", unwatched.readings_ns}};
  return object;
}

void set_run_times(Trace& trace, const RunTimes& times) {
  json run = run_of(trace);
  run["times"] = run_times_json(times);
  trace.run = json_text(run);
}

std::optional<RunTimes> run_times_of(const Trace& trace) {
  if (trace.run.find("\"times\"") == std::string::npos) return std::nullopt;
  const json run = run_of(trace);
  const auto found = run.find("times");
  if (found == run.end() || !found->is_object()) return std::nullopt;
  RunTimes times;
  const auto watched = times_in(*found, "watched_ns");
  if (!watched) return std::nullopt;
  constexpr double max_time_ns = 1e18;  // 30 years: fits the integer
  for (const double time : *watched)
    times.watched_ns.push_back(static_cast<std::int64_t>(std::min(time, max_time_ns)));
  if (const auto unwatched = found->find("unwatched"); unwatched != found->end())
    times.unwatched = unwatched_in(*unwatched);
  return times;
}

std::string_view time_kind_name(TimeKind kind) {
  switch (kind) {
    case TimeKind::unwatched: return "unwatched";
    case TimeKind::watched: return "watched";
    case TimeKind::layers: return "layers";
    case TimeKind::unknown: break;
  }
  return "unknown";
}

std::optional<TimeKind> time_kind_named(std::string_view name) {
  for (const TimeKind kind : {TimeKind::unknown, TimeKind::layers, TimeKind::watched, TimeKind::unwatched})
    if (time_kind_name(kind) == name) return kind;
  return std::nullopt;
}

RunTime run_time(const Trace& trace) {
  RunTime time;
  time.layers = layer_times_text(trace);
  const auto times = run_times_of(trace);
  if (times && times->unwatched) time.error = times->unwatched->error;
  if (times && times->unwatched && !times->unwatched->readings_ns.empty()) {
    time.ns = median(times->unwatched->readings_ns);
    time.kind = TimeKind::unwatched;
    time.first_ns = times->unwatched->first_ns;
    time.runs = times->unwatched->runs;
  } else if (times && !times->watched_ns.empty()) {
    time.ns = static_cast<double>(steady_time_ns(times->watched_ns));
    time.kind = TimeKind::watched;
    time.runs = std::ssize(times->watched_ns);
  } else if (const std::int64_t layers = layers_time_ns(trace); layers > 0) {
    time.ns = static_cast<double>(layers);
    time.kind = TimeKind::layers;
  }
  return time;
}

}  // namespace driftscope
