#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/report/bench_view.hpp"

namespace driftscope::test::bench_view_test {
namespace {

using nlohmann::json;

BenchRow row(const std::string& target, double ns) {
  BenchRow made;
  made.model = "lenet5";
  made.target = made.base_name = target;
  made.load_ms = 12.5;
  made.first_ms = 3.0;
  made.ran = R"({"engine":"strict","threads_real":2})";
  for (int i = 0; i < 10; ++i) made.series.rounds.push_back({{ns, ns * 1.01, ns * 0.99}, 7, 700, 7000});
  made.series.steady = true;
  made.series.end = BenchEnd::precise;
  made.process_peak_bytes = 5'000'000;
  return made;
}

BenchReport report_of(std::vector<BenchRow> rows) {
  BenchReport report;
  report.build = "abc";
  report.machine = R"({"cpu":"A \"fast\" one","cores":2})";
  report.input = "seed:42 (random)";
  report.rows = std::move(rows);
  add_ratios(report, {report.rows.front().base_name});
  return report;
}

TEST_CASE("BenchJson_HasEveryFieldOfTheContract") {
  const json object = parse_json(bench_json(report_of({row("pc/strict", 2e6), row("pc/fast", 1e6)})));
  CHECK(object["format"] == "driftscope-bench-1");
  CHECK(object["machine"]["cores"] == 2);
  REQUIRE(object["results"].size() == 2);
  const json& first = object["results"][0];
  for (const char* key :
       {"model", "target", "load_ms", "first_ms", "median_ms", "p95_ms", "min_ms", "mad_ms", "runs",
        "throughput_per_s", "wasm_heap_peak_bytes", "process_peak_bytes", "download_bytes", "ran"})
    CHECK_MESSAGE(first.contains(key), key);
  CHECK(first["median_ms"].get<double>() == doctest::Approx(2.0));
  CHECK(first["min_ms"].get<double>() == doctest::Approx(1.98));
  CHECK(first["runs"] == 30);
  CHECK(first["throughput_per_s"].get<double>() == doctest::Approx(500.0));
  CHECK(first["wasm_heap_peak_bytes"].is_null());
  CHECK(first["process_peak_bytes"] == 5'000'000);
  CHECK(first["ran"]["threads_real"] == 2);
  CHECK(first["alive"]["tensors"] == 7);
  CHECK(object["ratios"][0]["times_as_fast"].get<double>() == doctest::Approx(2.0));
  CHECK(object["failed"].empty());
}

TEST_CASE("BenchTable_HeapThatGrows_IsALeakWhenMoreThanAThreadKeeps") {
  const auto text_of = [](std::int64_t bytes_per_run) {
    BenchRow growing = row("pc/ort", 1e6);
    std::int64_t runs = 0;
    for (auto& round : growing.series.rounds)
      round.heap_bytes = 1'000'000 + bytes_per_run * (runs += std::ssize(round.times_ns));
    return bench_table(report_of({std::move(growing)}));
  };
  CHECK(text_of(400).find("a leak") == std::string::npos);  // 12 kB in 30 runs
  CHECK(text_of(20'000).find("a leak: each run leaves 2e+04 bytes of heap behind") != std::string::npos);
}

TEST_CASE("BenchJson_WhatFailedStandsApart") {
  BenchRow gone = row("chrome/fast", 1e6);
  gone.series = {};
  gone.error = missing_error("chrome is not installed");
  BenchRow died = row("pc/fast", 1e6);
  died.series.error = missing_error("it died");
  const json object = parse_json(bench_json(report_of({row("pc/strict", 2e6), gone, died})));
  CHECK(object["results"].size() == 2);  // a failed target keeps its rounds
  REQUIRE(object["failed"].size() == 2);
  CHECK(object["failed"][0]["target"] == "chrome/fast");
  CHECK(object["failed"][1]["error"] == "it died");
}

TEST_CASE("BenchJson_HostileText_IsStillJson") {
  BenchRow odd = row("pc/strict", 1e6);
  odd.model = "m\xff\"\n";
  odd.ran = "no json";
  BenchReport report = report_of({odd});
  report.machine = "{broken";
  const json object = parse_json(bench_json(report));
  REQUIRE(object.is_object());
  CHECK(object["machine"].empty());
  CHECK(object["results"][0]["ran"].empty());
}

TEST_CASE("BenchTable_ShowsRatiosAndRemarks") {
  BenchRow leaky = row("pc/fast", 1e6);
  for (std::size_t i = 0; i < leaky.series.rounds.size(); ++i)
    leaky.series.rounds[i].alive_tensors = static_cast<std::int64_t>(10 + 6 * i);
  leaky.series.steady = false;
  leaky.series.end = BenchEnd::time;
  BenchReport report = report_of({row("pc/strict", 2e6), leaky});
  report.notes.push_back("The machine was busy.");
  const std::string text = bench_table(report);
  for (const char* part : {"lenet5  seed:42", "× pc/strict", "2.00× [2.00, 2.00]", "2.00 ms", "1.00 ms",
                           "a leak: each run leaves 2 tensors", "--time reached",
                           "still changing when warm-up ended", "The machine was busy."})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part << "\n" << text);
}

TEST_CASE("BenchTable_RunsThatTrace_HaveAColumnForIt") {
  BenchRow traced = row("pc/fast", 1e6);
  traced.capture = "all";
  CHECK(bench_table(report_of({row("pc/strict", 2e6), traced})).find("trace") != std::string::npos);
  CHECK(bench_table(report_of({row("pc/strict", 2e6)})).find("trace") == std::string::npos);
}

TEST_CASE("Bench_AgainstAnotherBuild_SaysWhichIsFaster") {
  BenchRow ours = row("pc/fast", 1e6);
  BenchRow old = row("pc/fast", 1.5e6);
  old.reference = "build/old";
  for (BenchRow* one : {&ours, &old}) {
    for (std::size_t i = 0; i < one->series.rounds.size(); ++i)
      one->series.rounds[i].launch = static_cast<std::int64_t>(i / 2);
    one->launches.assign(5, {12.5, 3.0});
  }
  BenchReport report = report_of({ours, old});
  report.ratios.clear();
  report.against = "build/old";
  add_contrasts(report);
  const std::string text = bench_table(report);
  for (const char* part : {"pc/fast in build/old", "against build/old", "would have seen", "faster",
                           "1.500× [1.49", "cannot tell", "first run", "what 5 launches"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part << "\n" << text);
  const json object = parse_json(bench_json(report));
  CHECK(object["against"] == "build/old");
  CHECK(object["results"][1]["reference"] == "build/old");
  REQUIRE(object["contrasts"].size() == 3);
  CHECK(object["contrasts"][0]["time"] == "run");
  CHECK(object["contrasts"][0]["speed"] == "faster");
  CHECK(object["contrasts"][1]["speed"] == "cannot_tell");
  CHECK(object["contrasts"][2]["time"] == "first_run");
  CHECK(object["contrasts"][0]["launches"] == 5);
}

TEST_CASE("BenchTable_FewRounds_SaysThatThereIsNoInterval") {
  BenchRow few = row("pc/strict", 1e6);
  few.series.rounds.resize(3);
  const std::string text = bench_table(report_of({few}));
  CHECK(text.find("3 rounds are too few") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::bench_view_test
