// What is said of a device's conditions, and what it may send.
#include "native/browser/run_conditions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/results/run_times.hpp"
#include "core/trace/run_fact.hpp"

namespace driftscope::test::run_conditions_test {
namespace {

documents::RunConditions quiet() {
  documents::RunConditions seen;
  seen.watched_ms = 8000;
  seen.screen = "kept_on";
  seen.battery = 0.8;
  seen.frames_per_second = 60.0;
  seen.pressure = "critical";  // of the run itself
  return seen;
}

std::string notes_of(const documents::RunConditions& seen) {
  std::string text;
  for (const std::string& note : condition_notes(seen)) text += note + "\n";
  return text;
}

TEST_CASE("RunConditions_OfAQuietDevice_SayNothing") { CHECK(notes_of(quiet()).empty()); }

TEST_CASE("RunConditions_ThatDisturb_AreSaid") {
  documents::RunConditions seen = quiet();
  seen.hidden_ms = 3200;
  seen.stopped_ms = 1500;
  seen.battery = 0.12;
  seen.frames_per_second = 30.0;
  seen.screen = "refused";
  seen.pressure_before = "serious";
  const std::string text = notes_of(seen);
  for (const char* part :
       {"in the background, or the screen off, for 3.2 s of 8.0 s", "stood still for 1.5 s of 8.0 s",
        "battery 12 %, discharging", "drawn 30 times a second", "refused to keep the screen on",
        "under serious pressure (load or heat) before the run"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  seen.charging = true;
  CHECK(notes_of(seen).find("battery") == notes_of(seen).find("battery saver"));
}

TEST_CASE("RunConditions_TimesThatRise_AreSaid") {
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) times.push_back(100.0 + 2.0 * i + (i % 3));
  const std::string text = rise_text(times, quiet());
  CHECK(text.find("times rose by 3") == 0);
  CHECK(text.find("thermal throttling? The browser said at most: serious or critical") != std::string::npos);
  documents::RunConditions silent = quiet();
  silent.pressure.clear();
  CHECK(rise_text(times, silent).find("does not say how hot") != std::string::npos);
  std::ranges::reverse(times);
  CHECK(rise_text(times, quiet()).empty());
  CHECK(rise_text(std::vector<double>(20, 100.0), quiet()).empty());
  CHECK(rise_text(std::vector<double>{1.0, 2.0, 3.0}, quiet()).empty());
  times.assign(20, 100.0);
  times.back() = 300.0;  // one that was disturbed
  CHECK(rise_text(times, quiet()).empty());
}

TEST_CASE("RunConditions_InATrace_AreAFactAndNotes") {
  Trace trace;
  trace.run = R"({"notes":["first"]})";
  set_run_times(trace, {.watched_ns = {1}, .unwatched = std::nullopt});
  add_conditions(trace,
                 {{"watched_ms", 8000}, {"hidden_ms", 3200}, {"stopped_ms", 0}, {"screen", "kept_on"}});
  const auto seen = run_fact<documents::RunConditions>(trace, "conditions");
  REQUIRE(seen);
  CHECK(seen->hidden_ms == 3200);
  const std::vector<std::string> notes = notes_of_run(trace);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0] == "first");
  CHECK(notes[1].find("3.2 s of 8.0 s") != std::string::npos);
}

TEST_CASE("RunConditions_ThatAreNone_AreIgnored") {
  for (const char* bad : {"3", "[]", "{}", R"({"watched_ms":-1,"hidden_ms":0,"stopped_ms":0})",
                          R"({"watched_ms":"8","hidden_ms":0,"stopped_ms":0})",
                          R"({"watched_ms":1e300,"hidden_ms":0,"stopped_ms":0})",
                          R"({"watched_ms":1,"hidden_ms":0,"stopped_ms":0,"battery":"full"})",
                          R"({"watched_ms":1,"hidden_ms":0,"stopped_ms":0,"battery":12})"}) {
    Trace trace;
    trace.run = "{}";
    add_conditions(trace, nlohmann::json::parse(bad));
    CHECK_MESSAGE(trace.run == "{}", bad);
  }
}

}  // namespace
}  // namespace driftscope::test::run_conditions_test
