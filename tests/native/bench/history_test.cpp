// Artificial histories: what is kept, what is flagged, what a broken file does.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <fstream>

#include "core/report/history_view.hpp"
#include "native/bench/history.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::history_test {
namespace {

struct Place {
  Place() : folder(*TempFolder::make()) {}
  [[nodiscard]] std::filesystem::path file() const { return folder.path() / "deep" / "bench.sqlite"; }
  TempFolder folder;
};

BenchReport report(const std::string& build, double ns, const std::string& target = "pc/strict") {
  BenchReport made;
  made.machine = R"({"cpu":"Test CPU","cores":2})";
  BenchRow row;
  row.model = "lenet5";
  row.model_sha256 = "abc";
  row.target = row.base_name = target;
  row.build = build;
  row.ran = R"({"browser_version":"Chromium 1.2"})";
  for (int i = 0; i < 10; ++i) row.series.rounds.push_back({{ns, ns, ns}, 0, 0, 0});
  made.rows.push_back(row);
  row.target = "pc/absent";
  row.series = {};
  row.error = missing_error("not here");
  made.rows.push_back(row);
  return made;
}

void add(const Place& place, const BenchReport& report) {
  auto history = History::open(place.file());
  REQUIRE_MESSAGE(history.ok(), history.error().message);
  const Status added = history->add(report);
  REQUIRE_MESSAGE(added.ok(), added.error().message);
}

std::vector<HistorySeries> read(const Place& place, const HistoryFilter& filter = {}) {
  auto history = History::open(place.file());
  REQUIRE(history.ok());
  auto all = history->read(filter);
  REQUIRE(all.ok());
  return *std::move(all);
}

std::string table_of(const HistorySeries& series, int* slower) {
  SeriesView view{series.model, series.machine, series.builds, series.first_seen};
  return history_table(view, 0.99, slower);
}

TEST_CASE("History_SlowdownBeyondTheNoise_IsFlaggedNoiseIsNot") {
  const Place place;
  for (const double ns : {1.00e6, 1.01e6, 0.99e6}) add(place, report("one", ns));
  for (const double ns : {1.01e6, 1.02e6, 1.00e6}) add(place, report("two", ns));
  auto all = read(place);
  REQUIRE(all.size() == 1);  // what was not measured is not kept
  CHECK(all[0].machine == "Test CPU × 2");
  CHECK(all[0].browser_version == "Chromium 1.2");
  REQUIRE(all[0].builds.size() == 2);
  CHECK(all[0].builds[1].medians_ns.size() == 3);
  int slower = 0;
  CHECK(table_of(all[0], &slower).find("within the noise") != std::string::npos);
  CHECK(slower == 0);

  for (const double ns : {1.20e6, 1.21e6, 1.19e6}) add(place, report("three", ns));
  all = read(place);
  const std::string text = table_of(all[0], &slower);
  CHECK_MESSAGE(slower == 1, text);
  CHECK(text.find("✗ slower") != std::string::npos);
}

TEST_CASE("History_FewBenches_AreShownButNotJudged") {
  const Place place;
  add(place, report("one", 1e6));
  add(place, report("two", 3e6));
  int slower = 0;
  const std::string text = table_of(read(place)[0], &slower);
  CHECK(slower == 0);
  CHECK(text.find("not judged") != std::string::npos);
  CHECK(text.find("+200.0 %") != std::string::npos);
}

TEST_CASE("History_OtherConditions_AreOtherSeries") {
  const Place place;
  add(place, report("one", 1e6));
  add(place, report("one", 2e6, "chrome/strict"));
  BenchReport elsewhere = report("one", 3e6);
  elsewhere.machine = R"({"cpu":"Other CPU","cores":2})";
  add(place, elsewhere);
  BenchReport newer = report("one", 3e6);
  newer.rows[0].ran = R"({"browser_version":"Chromium 2"})";
  add(place, newer);
  CHECK(read(place).size() == 4);
  CHECK(read(place, {{"models/lenet5.onnx"}, {"chrome/strict"}}).size() == 1);
  CHECK(read(place, {{"resnet"}, {}}).empty());
}

TEST_CASE("History_NoDatabase_DamagedOrNewer_SaysSo") {
  const Place place;
  std::filesystem::create_directories(place.file().parent_path());
  std::ofstream(place.file()) << std::string(5000, 'x');
  const auto damaged = History::open(place.file());
  REQUIRE_FALSE(damaged.ok());
  CHECK(damaged.error().message.find(place.file().string()) != std::string::npos);
  CHECK(damaged.error().message.find("--db") != std::string::npos);

  std::filesystem::remove(place.file());
  add(place, report("one", 1e6));
  sqlite3* raw = nullptr;
  REQUIRE(sqlite3_open(place.file().c_str(), &raw) == SQLITE_OK);
  REQUIRE(sqlite3_exec(raw, "PRAGMA user_version = 99", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(raw);
  const auto newer = History::open(place.file());
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.error().message.find("99") != std::string::npos);

  CHECK_FALSE(History::open("/dev/null/no/bench.sqlite").ok());
}

}  // namespace
}  // namespace driftscope::test::history_test
