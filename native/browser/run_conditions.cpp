#include "native/browser/run_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/json.hpp"
#include "core/results/run_times.hpp"
#include "core/statistics/statistics.hpp"
#include "core/statistics/trend.hpp"
#include "core/trace/run_fact.hpp"

namespace driftscope {
namespace {

using documents::RunConditions;

constexpr double low_battery = 0.2;
constexpr double slow_frames = 40.0;  // per second; screens have 60 and more
constexpr std::int64_t noticed_ms = 100;

std::string in_seconds(std::int64_t ms) { return fmt::format("{:.1f} s", static_cast<double>(ms) * 1e-3); }

/// 0 where the browser does not say; of words that it should not know as well.
std::size_t pressure_rank(const std::string& word) {
  constexpr std::array<std::string_view, 4> words = {"nominal", "fair", "serious", "critical"};
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? 0 : static_cast<std::size_t>(found - words.begin());
}

constexpr std::size_t serious = 2;

}  // namespace

std::vector<std::string> condition_notes(const RunConditions& seen) {
  std::vector<std::string> notes;
  if (seen.hidden_ms >= noticed_ms)
    notes.push_back(fmt::format(
        "the page was in the background, or the screen off, for {} of {}: browsers slow it down or "
        "stop it there",
        in_seconds(seen.hidden_ms), in_seconds(seen.watched_ms)));
  if (seen.stopped_ms >= noticed_ms)
    notes.push_back(
        fmt::format("the page stood still for {} of {}: it was frozen, the device asleep, or its "
                    "main thread blocked",
                    in_seconds(seen.stopped_ms), in_seconds(seen.watched_ms)));
  if (seen.battery && *seen.battery <= low_battery && !seen.charging)
    notes.push_back(
        fmt::format("battery {:.0f} %, discharging: savers slow processors down", 100.0 * *seen.battery));
  if (seen.frames_per_second && *seen.frames_per_second > 0.0 && *seen.frames_per_second < slow_frames)
    notes.push_back(
        fmt::format("the page was drawn {:.0f} times a second: a battery saver, or a busy device?",
                    *seen.frames_per_second));
  if (seen.screen == "refused")
    notes.emplace_back(
        "the browser refused to keep the screen on, as with a battery saver: it may lock in a run");
  if (seen.screen == "let_go" && seen.hidden_ms < noticed_ms)
    notes.emplace_back("the browser stopped keeping the screen on during the run");
  if (pressure_rank(seen.pressure_before) >= serious)
    notes.push_back(fmt::format("the processor was under {} pressure (load or heat) before the run began",
                                pressure_rank(seen.pressure_before) == serious ? "serious" : "critical"));
  return notes;
}

std::string rise_text(std::span<const double> times, const RunConditions& seen) {
  constexpr std::size_t fewest = 8;
  constexpr double matters = 0.15;
  constexpr double confidence = 0.99;
  if (times.size() < fewest) return {};
  std::vector<double> place(times.size());
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = static_cast<double>(i);
  const auto found = slope(place, times, confidence);
  if (!found || !found->interval || found->interval->low <= 0.0) return {};
  const double middle = median(times);
  const double half = 0.5 * found->value * (place.back() - place.front());
  if (middle <= half || 2.0 * half < matters * (middle - half)) return {};
  std::string why = ": thermal throttling?";
  if (seen.pressure.empty())
    why += " This browser does not say how hot or loaded the processor is";
  else
    why += fmt::format(" The browser said at most: {} pressure",
                       pressure_rank(seen.pressure) >= serious ? "serious or critical" : "fair");
  return fmt::format("times rose by {:.0f} % from the first to the last of {} readings{}",
                     200.0 * half / (middle - half), times.size(), why);
}

std::optional<RunConditions> read_conditions(const nlohmann::json& said) {
  RunConditions seen;
  const Status read = read_json(nlohmann::ordered_json(said), JsonPath("conditions"), seen);
  if (!read.ok() || (seen.battery && !(*seen.battery >= 0.0 && *seen.battery <= 1.0))) return std::nullopt;
  return seen;
}

void add_conditions(Trace& trace, const nlohmann::json& said) {
  const auto seen = read_conditions(said);
  if (!seen) return;
  set_run_fact(trace, "conditions", encode(*seen));
  std::vector<std::string> lines = condition_notes(*seen);
  const auto times = run_times_of(trace);
  if (times && times->unwatched)
    if (std::string line = rise_text(times->unwatched->readings_ns, *seen); !line.empty())
      lines.push_back(std::move(line));
  if (lines.empty()) return;
  auto notes = run_fact_json(trace, "notes").value_or(nlohmann::ordered_json::array());
  if (!notes.is_array()) notes = nlohmann::ordered_json::array();
  for (std::string& line : lines) notes.push_back(std::move(line));
  set_run_fact(trace, "notes", notes);
}

}  // namespace driftscope
