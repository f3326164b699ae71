// What a wall takes from stored comparisons, of which anything may be missing or wrong.
#include "core/wall/read_runs.hpp"

#include <doctest/doctest.h>

#include "tests/unit/support/text.hpp"
#include "tests/unit/wall/stored.hpp"

namespace driftscope::test::wall_read_runs_test {
namespace {

using wall::Run;
using wall::State;
using Json = nlohmann::ordered_json;

std::vector<Run> runs_of(const Json& document) {
  auto runs = wall::read_runs(json_text(document), "a.json", "2020-01-01T00:00:00Z");
  REQUIRE(runs.ok());
  return *std::move(runs);
}

TEST_CASE("WallRuns_OfAComparison_HaveItsFacts") {
  const auto runs =
      runs_of(stored_comparison({{.target = "chrome/ort-webgpu:build=all", .verdict = "fault"}}));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].target == "pc/strict");
  CHECK(runs[0].left.empty());
  CHECK(runs[0].device.empty());  // the processor computes
  const Run& run = runs[1];
  CHECK(run.file == "a.json");
  CHECK(run.model == "net.onnx");
  CHECK(run.host == "chrome");
  CHECK(run.engine == "ort-webgpu");
  CHECK(run.options == "build=all");
  CHECK(run.left == "pc/strict");
  CHECK(run.date == "2026-11-30T03:08:16Z");
  CHECK_FALSE(run.date_of_file);
  CHECK(run.state == State::fault);
  REQUIRE(run.bad);
  CHECK(run.bad->node == "conv1");
  CHECK(run.bad->budget_used == 731.2);
  CHECK(run.browser == "Chromium 156.0.8078.108");
  CHECK(run.runtime == "ort-webgpu 1.30.0");
  CHECK(run.system_name == "Linux x86_64");
  CHECK(run.device == "GPU of the test");
  CHECK(run.time.ns == 1.5e6);
}

TEST_CASE("WallRuns_WithoutADifferingBit_AreIdentical") {
  CHECK(runs_of(stored_comparison({{.divergence = ""}}))[1].state == State::identical);
  CHECK(runs_of(stored_comparison({{.divergence = "conv1"}}))[1].state == State::rounding);
  CHECK(runs_of(stored_comparison({{.verdict = "identical", .divergence = "conv1"}}))[1].state ==
        State::rounding);
  CHECK(runs_of(stored_comparison({{.verdict = "suspect", .divergence = ""}}))[1].state == State::suspect);
}

TEST_CASE("WallRuns_OfATargetThatFailed_HaveTheDateOfTheOthers") {
  const auto runs = runs_of(stored_comparison({{}, {.target = "firefox/webgl", .verdict = "failed"}}));
  REQUIRE(runs.size() == 3);
  CHECK(runs[2].state == State::failed);
  CHECK(runs[2].error == "no <display>");
  CHECK(runs[2].date == "2026-11-30T03:08:16Z");
  CHECK_FALSE(runs[2].facts);
}

TEST_CASE("WallRuns_WithoutAnyDate_HaveThatOfTheFile") {
  Json document = stored_comparison({{.date = "yesterday"}});
  const auto runs = runs_of(document);
  CHECK(runs[1].date == "2020-01-01T00:00:00Z");
  CHECK(runs[1].date_of_file);
}

TEST_CASE("WallRuns_OfADeviceElsewhere_HaveTheSystemOfItsBrowser") {
  Json document = stored_comparison({{.target = "remote:pixel8/webgpu"}});
  document["right"][0]["ran"]["user_agent"] = "Mozilla/5.0 (Linux; Android 15; Pixel 8) Chrome/156";
  const Run run = runs_of(document)[1];
  CHECK(run.system_name == "Android");
  CHECK(run.processor.empty());
}

TEST_CASE("WallRuns_WithFactsMissingOrOfOtherTypes_AreReadAllTheSame") {
  Json document = stored_comparison({{}});
  for (const char* key : {"model", "model_sha256", "build", "machine"}) document.erase(key);
  document["right"][0]["ran"] = {{"options", 3}, {"device", Json::array()}, {"start_time", 7}};
  const Run run = runs_of(document)[1];
  CHECK(run.model.empty());
  CHECK(run.device.empty());
  CHECK(run.date == "2026-11-30T03:08:16Z");  // the left target's
}

TEST_CASE("WallRuns_LongTexts_AreCut") {
  Json document = stored_comparison({{.browser = std::string(100'000, 'x')}});
  CHECK(runs_of(document)[1].browser.size() < 1000);
}

TEST_CASE("WallRuns_OfOtherDocuments_AreErrorsThatSayWhat") {
  for (const std::string text :
       {"", "{", "[]", "{\"format\":\"driftscope-compare-2\",\"left\":{},\"right\":[]}",
        "{\"format\":\"driftscope-compare-1\"}", "\xff\xfe"}) {
    const auto runs = wall::read_runs(text, "a.json", "");
    CHECK_FALSE(runs.ok());
    CHECK_FALSE(runs.error().message.empty());
  }
  Json document = stored_comparison({{}});
  document["right"][0]["target"] = 3;
  const auto runs = wall::read_runs(json_text(document), "a.json", "");
  REQUIRE_FALSE(runs.ok());
  CHECK(holds(runs.error().message, "right[0].target"));
}

TEST_CASE("WallFiles_ThatMayBeComparisons_AreToldByTheirBeginning") {
  CHECK(wall::may_be_comparison(json_text(stored_comparison({}))));
  CHECK(wall::may_be_comparison("{\n \"build\": \"a\",\n \"format\": \"driftscope-compare-2\""));
  for (const char* text :
       {"", "{}", "{\"name\":\"driftscope-compare\"}", "{\"format\":\"driftscope-bench-1\"}",
        "[{\"format\":\"driftscope-verify-1\",\"x\":\"driftscope-compare-1\"}]"})
    CHECK_FALSE(wall::may_be_comparison(text));
  CHECK_FALSE(wall::may_be_comparison(std::string(wall::looked_at, ' ') + "\"driftscope-compare-1\""));
}

}  // namespace
}  // namespace driftscope::test::wall_read_runs_test
