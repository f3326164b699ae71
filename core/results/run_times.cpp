#include "core/results/run_times.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/statistics/statistics.hpp"
#include "core/trace/run_fact.hpp"
#include "core/verify/compare.hpp"
#include "generated/documents/run_times.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

bool are_times(const std::vector<double>& times) {
  return std::ranges::all_of(times, [](double time) { return std::isfinite(time) && time >= 0.0; });
}

std::optional<UnwatchedTimes> unwatched_of(const ordered_json& value) {
  UnwatchedTimes times;
  if (!read_json(value, JsonPath("unwatched"), times).ok()) return std::nullopt;
  if (!times.error.empty()) return UnwatchedTimes{0.0, 0, {}, std::move(times.error)};
  // All but error, or error alone.
  if (!value.contains("first_ns") || times.runs <= 0) return std::nullopt;
  if (times.readings_ns.empty() || !are_times(times.readings_ns)) return std::nullopt;
  return times;
}

/// Other programs may write fractions of nanoseconds: they are cut off.
void make_whole(ordered_json& times_ns) {
  constexpr double max_time_ns = 1e18;  // 30 years: fits the integer
  if (!times_ns.is_array()) return;
  for (ordered_json& one : times_ns)
    if (one.is_number_float() && one.get<double>() >= 0.0)
      one = static_cast<std::int64_t>(std::min(one.get<double>(), max_time_ns));
}

std::int64_t layers_time_ns(const Trace& trace) {
  std::int64_t total = 0;
  for (const NodeRecord& node : trace.nodes)
    if (node.inside.empty()) total += steady_time_ns(node);
  return total;
}

std::string layer_times_text(const Trace& trace) {
  const bool any =
      std::ranges::any_of(trace.nodes, [](const NodeRecord& node) { return !node.time_ns.empty(); });
  if (!any) return "unknown";
  const auto options = run_fact_json(trace, "options");
  if (!options || !options->is_object()) return "watched";
  const auto how = options->find("node_times");
  return how != options->end() && how->is_string() ? how->get<std::string>() : "watched";
}

}  // namespace

ordered_json run_times_json(const RunTimes& times) {
  ordered_json object = encode(times);
  if (times.unwatched && !times.unwatched->readings_ns.empty())
    object["unwatched"]["median_ns"] = median(times.unwatched->readings_ns);
  return object;
}

void set_run_times(Trace& trace, const RunTimes& times) {
  set_run_fact(trace, "times", run_times_json(times));
}

std::optional<RunTimes> run_times_of(const Trace& trace) {
  auto value = run_fact_json(trace, "times");
  if (!value || !value->is_object()) return std::nullopt;
  // What is wrong with the unwatched ones leaves the others.
  std::optional<UnwatchedTimes> unwatched;
  if (const auto found = value->find("unwatched"); found != value->end()) {
    unwatched = unwatched_of(*found);
    value->erase("unwatched");
  }
  if (const auto watched = value->find("watched_ns"); watched != value->end()) make_whole(*watched);
  RunTimes times;
  const Status read = read_json(*value, JsonPath("times"), times);
  if (!read.ok() || std::ranges::any_of(times.watched_ns, [](std::int64_t time) { return time < 0; }))
    return std::nullopt;
  times.unwatched = std::move(unwatched);
  return times;
}

void set_unwatched_error(Trace& trace, std::string why) {
  RunTimes times = run_times_of(trace).value_or(RunTimes());
  times.unwatched.emplace().error = std::move(why);
  set_run_times(trace, times);
}

void take_times(Trace& trace, const Trace& measured) {
  std::unordered_map<std::string_view, const NodeRecord*> by_name;
  for (const NodeRecord& node : measured.nodes) by_name.emplace(node.name, &node);
  for (NodeRecord& node : trace.nodes)
    if (const auto found = by_name.find(node.name); found != by_name.end())
      node.time_ns = found->second->time_ns;
  if (const auto times = run_times_of(measured)) set_run_times(trace, *times);
  // How an engine timed its nodes in the run that has their times.
  const auto timed = run_fact_json(measured, "options");
  if (!timed || !timed->is_object() || !timed->contains("node_times")) return;
  ordered_json options = run_fact_json(trace, "options").value_or(ordered_json::object());
  if (!options.is_object()) return;
  options["node_times"] = timed->at("node_times");
  set_run_fact(trace, "options", options);
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
