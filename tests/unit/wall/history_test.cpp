// What became worse or better, and since when: over releases, which are numbers, then over dates.
#include "core/wall/history.hpp"

#include <doctest/doctest.h>

#include "tests/unit/support/text.hpp"
#include "tests/unit/wall/stored.hpp"

namespace driftscope::test::wall_history_test {
namespace {

using wall::Change;
using wall::Series;
using wall::State;
using wall::Wall;

constexpr const char* gpu = "chrome/ort-webgpu";

StoredRun with(const std::string& browser, const std::string& day, const std::string& verdict) {
  return {.browser = "Chromium " + browser, .date = "2026-11-" + day + "T00:00:00Z", .verdict = verdict};
}

TEST_CASE("WallHistory_BecomesWorse_SinceTheReleaseInWhichItDid") {
  const Wall wall = wall_of(
      {with("99.0.1", "01", "rounding"), with("100.0.1", "02", "fault"), with("101.0.1", "03", "fault")});
  const Series& series = series_of(wall, gpu);
  REQUIRE(series.runs.size() == 3);
  CHECK(series.newest().browser == "Chromium 101.0.1");
  const auto since = wall::since_when(series.runs);
  REQUIRE(since);
  CHECK(since->first == 1);
  CHECK(since->text == "since Chromium 100");
  REQUIRE(wall.changes.size() == 1);
  CHECK(wall.changes[0].worse);
  CHECK(series.runs[wall.changes[0].before].state == State::rounding);
}

TEST_CASE("WallHistory_BecomesBetter_IsAChangeToo") {
  const Wall wall = wall_of({with("99.0", "01", "fault"), with("100.0", "02", "rounding")});
  REQUIRE(wall.changes.size() == 1);
  CHECK_FALSE(wall.changes[0].worse);
}

TEST_CASE("WallHistory_OlderBrowserToday_BelongsToItsRelease") {
  const Wall wall = wall_of({with("100.0", "01", "fault"), with("99.0", "20", "rounding")});
  const Series& series = series_of(wall, gpu);
  CHECK(series.newest().state == State::fault);
  CHECK(wall::since_when(series.runs)->text == "since Chromium 100");
}

TEST_CASE("WallHistory_OneBrowser_IsOrderedByDate") {
  const Wall wall = wall_of({with("100.0", "07", "fault"), with("100.0", "05", "rounding")});
  CHECK(wall::since_when(series_of(wall, gpu).runs)->text == "since 2026-11-07");
}

TEST_CASE("WallHistory_VersionsThatDifferInTheirEndAlone_AreToldWhole") {
  const Wall wall = wall_of({with("100.0.1", "01", "rounding"), with("100.0.2", "02", "fault")});
  CHECK(wall::since_when(series_of(wall, gpu).runs)->text == "since Chromium 100.0.2");
}

TEST_CASE("WallHistory_AlwaysTheSame_SaysSo") {
  CHECK(wall::since_when(series_of(wall_of({with("1.0", "01", "fault")}), gpu).runs)->text ==
        "in the only run");
  const Wall twice = wall_of({with("1.0", "01", "fault"), with("2.0", "02", "fault")});
  CHECK(wall::since_when(series_of(twice, gpu).runs)->text == "in all 2 runs");
  CHECK(twice.changes.empty());
}

TEST_CASE("WallHistory_TargetThatDidNotRun_StaysWithItsReleaseAndDevice") {
  StoredRun failed = with("", "02", "failed");
  const Wall wall = wall_of({with("99.0", "01", "rounding"), failed, with("100.0", "03", "rounding")});
  std::size_t of_gpu = 0;
  for (const Series& series : wall.models.at(0).series) of_gpu += series.target == gpu ? 1 : 0;
  CHECK(of_gpu == 1);  // not a series without a device
  const Series& series = series_of(wall, gpu);
  REQUIRE(series.runs.size() == 3);
  CHECK(series.runs[1].state == State::failed);
  CHECK(wall.changes.size() == 2);
}

// Two machines write into one folder.
TEST_CASE("WallHistory_RunThatFailed_StaysOnItsOwnSystem") {
  const auto run = [](const std::string& date, const std::string& system, const std::string& device) {
    wall::Run made;
    made.date = date;
    made.facts = !device.empty();
    made.state = made.facts ? State::rounding : State::failed;
    made.system_name = system;
    made.device = device;
    return made;
  };
  std::vector<wall::Run> runs = {run("01", "Windows", "AMD"), run("02", "Linux", "NVIDIA"),
                                 run("03", "Windows", ""), run("04", "", ""), run("05", "macOS", "")};
  wall::place_failed_runs(runs);
  CHECK(runs[2].device == "AMD");
  CHECK(runs[3].device == "NVIDIA");
  CHECK(runs[3].system_name == "Linux");
  CHECK(runs[4].device.empty());
  runs = {run("01", "Linux", ""), run("02", "Windows", "AMD"), run("03", "Linux", "NVIDIA")};
  wall::place_failed_runs(runs);
  CHECK(runs[0].device == "NVIDIA");
}

TEST_CASE("WallHistory_NewestRun_IsTheLastThatSaysSomething") {
  wall::Run fault, missing;
  fault.state = State::fault;
  Series series;
  series.runs = {fault, missing};
  CHECK(series.newest().state == State::fault);
  series.runs = {missing};
  CHECK(series.newest().state == State::missing);
}

TEST_CASE("WallHistory_UnjudgedIsWorseThanRoundingAndMissingSaysNothing") {
  CHECK(wall_of({with("1.0", "01", "rounding"), with("2.0", "02", "unjudged")}).changes.size() == 1);
  CHECK(wall_of({with("1.0", "01", "rounding"), with("2.0", "02", "missing")}).changes.empty());
}

TEST_CASE("WallHistory_BitsThatDifferAgain_CountWithTheSameLeftTargetAlone") {
  StoredRun same = with("1.0", "01", "rounding");
  same.divergence = "";
  const auto changes = [&](const char* left) {
    auto second = stored_comparison({with("2.0", "02", "rounding")});
    second["left"]["target"] = left;
    return wall::make_wall({stored_file("a", stored_comparison({same})), stored_file("b", second)}).changes;
  };
  CHECK(changes("pc/strict").size() == 1);
  CHECK(changes("pc/ort").empty());
}

TEST_CASE("Wall_OtherDevice_IsAnotherSeries_AnotherDriverIsNot") {
  StoredRun first = with("1.0", "01", "rounding");
  first.device = "llvmpipe (LLVM 19.1.7)";
  StoredRun driver = with("1.0", "02", "rounding");
  driver.device = "llvmpipe (LLVM 20.1.0)";
  StoredRun other = with("1.0", "03", "fault");
  other.device = "GeForce";
  const Wall wall = wall_of({first, driver, other});
  std::vector<std::size_t> lengths;
  for (const Series& series : wall.models.at(0).series)
    if (series.target == gpu) lengths.push_back(series.runs.size());
  CHECK(lengths == std::vector<std::size_t>{1, 2});
  CHECK(wall.changes.empty());
}

TEST_CASE("Wall_CopiesOfAFile_CountOnceAndAreNamed") {
  const auto document = stored_comparison({with("1.0", "01", "rounding")});
  const Wall wall = wall::make_wall({stored_file("b", document), stored_file("a", document)});
  CHECK(wall.files == 1);
  CHECK(wall.runs == 2);
  REQUIRE(wall.skipped.size() == 1);
  CHECK(wall.skipped[0].name == "b");
  CHECK(holds(wall.skipped[0].why, "a"));
}

TEST_CASE("Wall_ModelsOfOneName_AreTwoWithPagesOfTheirOwn") {
  const Wall wall = wall::make_wall({stored_file("a", stored_comparison({{}}, "net.onnx", "11")),
                                     stored_file("b", stored_comparison({{}}, "net.onnx", "22"))});
  REQUIRE(wall.models.size() == 2);
  CHECK(wall.models[0].named_alike);
  CHECK(wall.models[0].page != wall.models[1].page);
}

TEST_CASE("Wall_Columns_BeginWithThePc") {
  const Wall wall = wall::make_wall(
      {stored_file("a", stored_comparison({{.target = "android/strict"}, {.target = "chrome/webgl"}}))});
  REQUIRE(wall.columns.size() == 3);
  CHECK(wall.columns[0].host == "pc");
  CHECK(wall.columns[1].host == "chrome");
  CHECK(wall.columns[2].host == "android");
  for (const Series& series : wall.models[0].series) CHECK(wall.columns[series.column].host == series.host);
}

TEST_CASE("WallHistory_Steps_AreOneForEachReleaseAndVerdict") {
  const Wall wall = wall_of({with("1.0", "01", "rounding"), with("1.0", "02", "rounding"),
                             with("1.0", "03", "fault"), with("2.0", "04", "fault")});
  const auto steps = wall::steps_of(series_of(wall, gpu).runs);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].last == 1);
}

}  // namespace
}  // namespace driftscope::test::wall_history_test
