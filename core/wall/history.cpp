#include "core/wall/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/wall/version.hpp"

namespace driftscope::wall {
namespace {

constexpr std::size_t date_length = 10;  // "2026-11-30"

bool by_date(const Run& a, const Run& b) { return std::tie(a.date, a.file) < std::tie(b.date, b.file); }

/// What a run is sorted by.
struct Place {
  std::string browser, runtime;
};

bool says_something(const Run& run) { return severity(run.state) >= 0; }

/// The shortest texts that are different, so that "Chromium 157" is not said of two of its releases.
std::string told_apart(const std::string& version, const std::string& other) {
  const std::string brief = short_version(version);
  return brief == short_version(other) ? version : brief;
}

/// Whether a run that failed may have been where another ran: on its system, or on any if it names none.
bool may_be_there(const Run& failed, const Run& other) {
  return other.facts && (failed.system_name.empty() || failed.system_name == other.system_name);
}

void take_place(Run& run, const Run* from) {
  if (from == nullptr) return;
  if (run.system_name.empty()) {
    run.system = from->system;
    run.system_name = from->system_name;
  }
  run.device = from->device;
}

std::string since_text(const std::vector<Run>& runs, std::size_t before, std::size_t first) {
  const Run& old = runs[before];
  const Run& now = runs[first];
  constexpr std::array<std::string_view, 4> versions = {"browser", "runtime", "driver", "device"};
  std::vector<std::string> causes;
  for (const Difference& one : differences(old, now)) {
    const bool version = std::ranges::find(versions, one.what) != versions.end();
    if (version && causes.size() < 2) causes.push_back(told_apart(one.to, one.from));
    if (one.what == "Driftscope" && causes.empty()) causes.push_back("build " + one.to);
  }
  if (!causes.empty()) return fmt::format("since {}", fmt::join(causes, " and "));
  return now.date.empty() ? "since " + now.file : "since " + now.date.substr(0, date_length);
}

}  // namespace

void place_failed_runs(std::vector<Run>& runs) {
  std::ranges::sort(runs, by_date);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].facts) continue;
    const auto there = [&](const Run& run) { return may_be_there(runs[i], run); };
    const std::span<const Run> before(runs.data(), i);
    const std::span<const Run> after = std::span<const Run>(runs).subspan(i + 1);
    const auto last = std::find_if(before.rbegin(), before.rend(), there);
    const auto next = std::ranges::find_if(after, there);
    take_place(runs[i], last != before.rend() ? &*last : next != after.end() ? &*next : nullptr);
  }
}

void order_runs(std::vector<Run>& runs) {
  std::ranges::sort(runs, by_date);
  std::vector<std::pair<Place, Run>> placed;
  const auto first = std::ranges::find_if(runs, [](const Run& run) { return run.facts; });
  Place place;
  if (first != runs.end()) place = {first->browser, first->runtime};
  for (Run& run : runs) {
    if (run.facts) place = {run.browser, run.runtime};
    placed.emplace_back(place, std::move(run));
  }
  std::ranges::sort(placed, [](const auto& a, const auto& b) {
    if (const auto order = compare_versions(a.first.browser, b.first.browser); order != 0) return order < 0;
    if (const auto order = compare_versions(a.first.runtime, b.first.runtime); order != 0) return order < 0;
    return by_date(a.second, b.second);
  });
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i] = std::move(placed[i].second);
}

std::vector<Difference> differences(const Run& before, const Run& after) {
  std::vector<Difference> found;
  const auto add = [&](const char* what, const std::string& from, const std::string& to) {
    if (!from.empty() && !to.empty() && from != to) found.push_back({what, from, to});
  };
  add("browser", before.browser, after.browser);
  add("runtime", before.runtime, after.runtime);
  add("driver", before.driver, after.driver);
  add("device", before.device, after.device);
  add("Driftscope", before.build, after.build);
  add("system", before.system, after.system);
  add("processor", before.processor, after.processor);
  add("instructions", before.instruction_set, after.instruction_set);
  add("input", before.input, after.input);
  add("compared with", before.left, after.left);
  return found;
}

std::string release_text(const Run& run) {
  std::string text = run.browser.empty() ? "" : short_version(run.browser);
  if (!run.runtime.empty()) text += (text.empty() ? "" : ", ") + short_version(run.runtime);
  if (text.empty() && !run.build.empty()) text = "build " + run.build.substr(0, run.build.find('.'));
  return text;
}

std::optional<std::size_t> run_before(const std::vector<Run>& runs, std::size_t place) {
  while (place > 0)
    if (says_something(runs[--place])) return place;
  return std::nullopt;
}

int improvement(const Run& before, const Run& after) {
  const int change = severity(before.state) - severity(after.state);
  const bool bits_alone =
      std::max(severity(before.state), severity(after.state)) <= severity(State::rounding);
  const bool alike = before.left == after.left && before.input == after.input;
  return bits_alone && !alike ? 0 : change;
}

std::vector<Step> steps_of(const std::vector<Run>& runs) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool same = !steps.empty() && runs[steps.back().first].state == runs[i].state &&
                      runs[steps.back().first].browser == runs[i].browser &&
                      release_text(runs[steps.back().first]) == release_text(runs[i]);
    if (same)
      steps.back().last = i;
    else
      steps.push_back({i, i});
  }
  return steps;
}

std::optional<Since> since_when(const std::vector<Run>& runs) {
  const auto last = run_before(runs, runs.size());
  if (!last) return std::nullopt;
  Since since{.first = *last, .before = {}, .text = {}};
  std::size_t count = 1;
  for (auto place = run_before(runs, *last); place; place = run_before(runs, *place)) {
    if (runs[*place].state != runs[*last].state) {
      since.before = place;
      break;
    }
    since.first = *place;
    ++count;
  }
  if (since.before)
    since.text = since_text(runs, *since.before, since.first);
  else
    since.text = count == 1 ? "in the only run" : fmt::format("in all {} runs", count);
  return since;
}

}  // namespace driftscope::wall
