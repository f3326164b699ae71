// SARIF as code hosts read it: levels, places, fingerprints that stay, and what text may do in it.
#include "core/checks/sarif.hpp"

#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "tests/unit/checks/views.hpp"

namespace driftscope::test::sarif_test {
namespace {

const std::vector<float> scores = {0.1f, 0.7f, 0.2f};

CheckReport checks_on(const ComparisonView& view, const std::string& text) {
  const std::vector<std::string> texts = {text};
  return run_checks(view, *parse_fail_on(texts));
}

ComparisonView faulty_view() {
  ComparisonView view =
      checked_view(checked_target("pc/strict", Verdict::identical, Verdict::rounding, scores),
                   {checked_target("chrome/fast", Verdict::fault, Verdict::suspect, scores)});
  view.right.push_back({});
  view.right[1].target = "safari/fast";
  view.right[1].error = missing_error("no browser");
  return view;
}

nlohmann::ordered_json run_of(const ComparisonView& view, const std::string& conditions,
                              const std::string& path = "models/net.onnx", std::size_t most = 5000) {
  const std::string text = sarif_json(checks_on(view, conditions), view, path, "1.2.3", most);
  const auto document = nlohmann::ordered_json::parse(text);
  CHECK(document.at("version") == "2.1.0");
  REQUIRE(document.at("runs").size() == 1);
  return document["runs"][0];
}

}  // namespace

TEST_CASE("Sarif_FaultsFailed_SuspectsThatDoNotCount_TargetsThatDidNotRun") {
  const auto run = run_of(faulty_view(), "fault");
  CHECK(run["tool"]["driver"]["version"] == "1.2.3");
  CHECK(run["invocations"][0]["executionSuccessful"] == false);
  const auto& results = run["results"];
  REQUIRE(results.size() == 3);
  // What failed comes first.
  CHECK(results[0]["ruleId"] == "fault");
  CHECK(results[0]["level"] == "error");
  CHECK(results[1]["ruleId"] == "run");
  CHECK(results[1]["level"] == "error");
  CHECK(results[2]["ruleId"] == "suspect");
  CHECK(results[2]["level"] == "warning");
  const std::string message = results[0]["message"]["text"];
  CHECK(message.starts_with("chrome/fast: conv (Conv): output conv_out: error is 731"));
  const auto& place = results[0]["locations"][0];
  CHECK(place["physicalLocation"]["artifactLocation"]["uri"] == "models/net.onnx");
  CHECK(place["logicalLocations"][0]["fullyQualifiedName"] == "net.onnx/conv (Conv)");
  for (const auto& result : results) {
    const auto rule = result["ruleIndex"].get<std::size_t>();
    CHECK(run["tool"]["driver"]["rules"][rule]["id"] == result["ruleId"]);
  }
}

TEST_CASE("Sarif_NothingWrong_HasNoResults") {
  const ComparisonView view =
      checked_view(checked_target("pc/strict", Verdict::identical, Verdict::rounding, scores),
                   {checked_target("chrome/fast", Verdict::rounding, Verdict::identical, scores)});
  const auto run = run_of(view, "fault,top1");
  CHECK(run["results"].empty());
  CHECK(run["results"].is_array());
  CHECK(run["invocations"][0]["executionSuccessful"] == true);
}

TEST_CASE("Sarif_Fingerprints_FollowTargetLayerAndCondition_NotTheNumbers") {
  ComparisonView view = faulty_view();
  const auto print = [](const ComparisonView& one) {
    return run_of(one, "fault")["results"][0]["partialFingerprints"]["driftscope/v1"].get<std::string>();
  };
  const std::string before = print(view);
  CHECK(before.size() == 64);
  view.right[0].verification->layers[0].budget_used = 5.0;
  CHECK(print(view) == before);
  view.right[0].verification->layers[0].node = "other";
  CHECK(print(view) != before);
}

TEST_CASE("Sarif_PathsAndNames_AreEscapedAndCut") {
  ComparisonView view = faulty_view();
  view.right[0].verification->layers[0].node = "\xff\"\x1b" + std::string(10'000, 'n');
  const auto run = run_of(view, "fault", "my models/naïve #1.onnx");
  const auto& result = run["results"][0];
  CHECK(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] ==
        "my%20models/na%C3%AFve%20%231.onnx");
  CHECK(result["message"]["text"].get<std::string>().size() < 13'000);
}

TEST_CASE("Sarif_TooManyResults_KeepsTheFailedOnes") {
  const auto run = run_of(faulty_view(), "fault", "net.onnx", 2);
  REQUIRE(run["results"].size() == 2);
  for (const auto& result : run["results"]) CHECK(result["level"] == "error");
}

}  // namespace driftscope::test::sarif_test
