#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/checks/annotations.hpp"
#include "core/checks/baseline.hpp"
#include "core/checks/checks.hpp"
#include "core/checks/speed.hpp"
#include "tests/unit/checks/views.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::checks_test {
namespace {

constexpr Verdict ok = Verdict::identical;
const std::vector<float> seven = {0.1f, 0.7f, 0.2f};
const std::vector<float> other = {0.5f, 0.3f, 0.2f};

Finding saying(const std::string& text) { return {.id = "test.saying", .words = {{"text", text}}}; }

FailOn on(const std::string& text) {
  const std::vector<std::string> texts = {text};
  const auto parsed = parse_fail_on(texts);
  REQUIRE(parsed.ok());
  return *parsed;
}

bool fails(const ComparisonView& view, const std::string& conditions) {
  return run_checks(view, on(conditions)).failed();
}

ComparisonView two(Verdict left, Verdict right, const std::vector<float>& answer = seven) {
  return checked_view(checked_target("pc/strict", left, ok, seven),
                      {checked_target("chrome/fast", right, ok, answer)});
}

const CheckCase& find(const CheckReport& checks, const std::string& target, const std::string& name) {
  for (const CheckCase& one : checks.cases)
    if (one.target == target && one.name == name) return one;
  FAIL("there is no case " << name << " of " << target);
  return checks.cases.front();
}

BaselineCheck check_of(const ComparisonView& view) {
  BaselineCheck check{baseline_of(view), {"cpu", 2}, {}};
  check.baseline.machine = {"cpu", 2};
  return check;
}

}  // namespace

TEST_CASE("Checks_FaultAndSuspect_CountWhereTheyAreListed") {
  CHECK(!fails(two(ok, Verdict::rounding), "fault,suspect"));
  CHECK(fails(two(ok, Verdict::fault), "fault"));
  CHECK(fails(two(Verdict::fault, ok), "fault"));  // on the left as well
  CHECK(fails(two(ok, Verdict::fault), "suspect"));
  CHECK(fails(two(ok, Verdict::suspect), "suspect"));
  CHECK(!fails(two(ok, Verdict::suspect), "fault"));
  CHECK(!fails(two(ok, Verdict::fault), "top1"));
}

TEST_CASE("Checks_FaultThatDoesNotCount_IsStillSaid") {
  const CheckReport checks = run_checks(two(ok, Verdict::fault), on("top1"));
  CHECK(!checks.failed());
  CHECK(holds(checks_text(checks), "not counted"));
  CHECK(find(checks, "chrome/fast", "conv (Conv)").kind == "fault");
}

TEST_CASE("Checks_Message_SaysWhereGotAndExpected") {
  const CheckReport checks = run_checks(two(ok, Verdict::fault), on("fault"));
  const CheckCase& layer = find(checks, "chrome/fast", "conv (Conv)");
  CHECK(layer.outcome == CheckOutcome::failed);
  CHECK(layer.message ==
        "output conv_out: error is 731 × the rounding budget; worst at [0, 1]: got 1.25, expected 1.5");
}

TEST_CASE("Checks_Top1AndBits_AreJudgedAgainstTheLeftTarget") {
  CHECK(!fails(two(ok, ok), "top1,bits"));
  CHECK(fails(two(ok, ok, other), "top1"));
  const std::vector<float> nearly = {0.1f, 0.69f, 0.2f};
  CHECK(!fails(two(ok, ok, nearly), "top1"));
  CHECK(fails(two(ok, ok, nearly), "bits"));
  CHECK(!fails(two(ok, ok, other), "fault"));
}

TEST_CASE("Checks_Top1WithoutScores_FailsRatherThanPass") {
  ComparisonView view = two(ok, ok);
  view.right[0].comparison->output = {-1, -1, false};
  const CheckReport checks = run_checks(view, on("top1"));
  CHECK(checks.failed());
  CHECK(holds(find(checks, "chrome/fast", "top-1").message, "cannot be judged"));
}

TEST_CASE("Checks_DataSet_CountsSamplesThatDisagree") {
  ComparisonView view = two(ok, ok);
  view.left.dataset = DatasetResult{3, -1, {1, 2, 3}};
  view.right[0].dataset = DatasetResult{3, -1, {1, 2, 3}};
  CHECK(!fails(view, "top1"));
  view.right[0].dataset->predictions[2] = 4;
  const CheckReport checks = run_checks(view, on("top1"));
  CHECK(checks.failed());
  CHECK(holds(find(checks, "chrome/fast", "top-1 over the data set").message, "2 of 3"));
}

TEST_CASE("Checks_NonfiniteOutputs_CountOnEveryTargetWhereListed") {
  for (const bool left : {true, false}) {
    CAPTURE(left);
    ComparisonView view = two(ok, ok);
    CHECK(!fails(view, "nonfinite"));
    (left ? view.left : view.right[0]).verification->nonfinite = {{"y", "last", "conv", 128, 0, 128}};
    CHECK(fails(view, "nonfinite"));
    CHECK(!fails(view, "fault,suspect,unjudged,top1,bits"));
    const CheckReport checks = run_checks(view, on("nonfinite"));
    const CheckCase& one = find(checks, left ? "pc/strict" : "chrome/fast", "finite outputs");
    CHECK(one.kind == "nonfinite");
    CHECK(one.message == "all 128 elements of y are NaN (first at conv)");
  }
}

TEST_CASE("Checks_TargetThatDidNotRun_IsAnErrorAndNoFailure") {
  ComparisonView view = two(ok, ok);
  view.right.push_back({});
  view.right[1].target = "safari/fast";
  view.right[1].error = missing_error("no browser");
  const CheckReport checks = run_checks(view, on("fault,top1,slower:20%"));
  CHECK(find(checks, "safari/fast", "run").outcome == CheckOutcome::error);
  CHECK(find(checks, "safari/fast", "run").message == "no browser");
}

TEST_CASE("Checks_MissingLayer_IsSkippedWithItsReason") {
  ComparisonView view = two(ok, ok);
  view.right[0].verification->layers[0].verdict = Verdict::missing;
  view.right[0].verification->layers[0].findings = {saying("unknown operator")};
  const CheckReport checks = run_checks(view, on("fault"));
  CHECK(find(checks, "chrome/fast", "conv (Conv)").outcome == CheckOutcome::skipped);
  CHECK(holds(find(checks, "chrome/fast", "conv (Conv)").message, "unknown operator"));
}

TEST_CASE("Checks_UnjudgedLayer_IsSkippedWithItsReasonOrFailsWhereListed") {
  ComparisonView view = two(ok, Verdict::unjudged);
  for (LayerVerdict& layer : view.right[0].verification->layers)
    layer.findings = {saying("its budget is infinite")};
  const CheckReport checks = run_checks(view, on("fault,suspect"));
  CHECK(!checks.failed());
  CHECK(find(checks, "chrome/fast", "conv (Conv)").outcome == CheckOutcome::skipped);
  CHECK(find(checks, "chrome/fast", "conv (Conv)").kind == "unjudged");
  CHECK(holds(checks_text(checks), "not judged: output conv_out: its budget is infinite"));
  CHECK(fails(view, "unjudged"));
  CHECK(fails(two(ok, Verdict::suspect), "unjudged"));
  CHECK(fails(two(ok, Verdict::fault), "unjudged"));
  CHECK(!fails(two(ok, Verdict::rounding), "unjudged"));
  CHECK(fail_on_text(on("unjudged,fault")) == "fault,unjudged");
}

TEST_CASE("Checks_UnjudgedLayerOfTheBaseline_IsNoFailure") {
  const BaselineCheck check = check_of(two(ok, Verdict::unjudged));
  const CheckReport checks = run_checks(two(ok, Verdict::unjudged), on("unjudged"), &check);
  CHECK(!checks.failed());
  CHECK(holds(find(checks, "chrome/fast", "conv (Conv)").message, "as in the baseline"));
  CHECK(run_checks(two(ok, Verdict::fault), on("unjudged"), &check).failed());
  const BaselineCheck clean = check_of(two(ok, ok));
  CHECK(run_checks(two(ok, Verdict::unjudged), on("unjudged"), &clean).failed());
}

TEST_CASE("Checks_SpeedAgainstLeft_LeavesOutTheFirstRun") {
  const auto speed = [](std::vector<std::int64_t> left, std::vector<std::int64_t> right) {
    const ComparisonView view =
        checked_view(checked_target("pc/strict", ok, ok, seven, std::move(left)),
                     {checked_target("chrome/fast", ok, ok, seven, std::move(right))});
    return find(run_checks(view, on("slower:20%")), "chrome/fast", "speed");
  };
  CHECK(speed({9000, 1000, 1001, 999, 1000}, {1, 1300, 1301, 1299, 1300}).outcome == CheckOutcome::failed);
  CHECK(speed({9000, 1000, 1001, 999, 1000}, {1, 1100, 1101, 1099, 1100}).outcome == CheckOutcome::passed);
  CHECK(speed({1, 1000, 1001, 999, 1000}, {90000, 900, 901, 899, 900}).outcome == CheckOutcome::passed);
  // Slower by half, but the runs differ as much among themselves.
  CHECK(speed({1, 500, 2000, 900, 1500}, {1, 800, 3000, 1300, 2200}).outcome == CheckOutcome::passed);
  const CheckCase few = speed({5, 1000}, {5, 2000});
  CHECK(few.outcome == CheckOutcome::failed);
  CHECK(holds(few.message, "--times"));
  CHECK(speed({}, {}).outcome == CheckOutcome::failed);
  CHECK(holds(speed({1, 0, 0, 0}, {1, 5, 5, 5}).message, "clock"));
}

TEST_CASE("Checks_SpeedAgainstLeft_IsThatOfUnwatchedRunsWhereBothHaveThem") {
  const auto target = [](const std::string& name, std::vector<double> unwatched) {
    TargetResult result = checked_target(name, ok, ok, seven, {9000, 1000, 1001, 999, 1000});
    RunTimes times = {{9000, 1000, 1001, 999, 1000}, std::nullopt};
    if (!unwatched.empty()) times.unwatched = UnwatchedTimes{1.0, 9, std::move(unwatched), ""};
    set_run_times(*result.trace, times);
    return result;
  };
  const auto speed = [&](std::vector<double> left, std::vector<double> right) {
    const ComparisonView view =
        checked_view(target("pc/strict", std::move(left)), {target("chrome/fast", std::move(right))});
    return find(run_checks(view, on("slower:20%")), "chrome/fast", "speed").outcome;
  };
  CHECK(speed({100, 101, 99, 100}, {200, 201, 199, 200}) == CheckOutcome::failed);
  CHECK(speed({100, 101, 99, 100}, {100, 101, 99, 100}) == CheckOutcome::passed);
  // A trace without unwatched runs is compared by what both have.
  CHECK(speed({100, 101, 99, 100}, {}) == CheckOutcome::passed);
}

TEST_CASE("Checks_Baseline_KnownLayersPassAndNewOnesFail") {
  const BaselineCheck check = check_of(two(ok, Verdict::suspect));
  CHECK(!run_checks(two(ok, Verdict::suspect), on("suspect"), &check).failed());
  CHECK(run_checks(two(ok, Verdict::fault), on("suspect"), &check).failed());  // worse than it was
  CHECK(run_checks(two(Verdict::suspect, ok), on("suspect"), &check).failed());
}

TEST_CASE("Checks_Baseline_AnswerIsThatOfTheSameTargetThen") {
  const BaselineCheck check = check_of(two(ok, ok, other));
  CHECK(!run_checks(two(ok, ok, other), on("top1,bits"), &check).failed());
  CHECK(run_checks(two(ok, ok, seven), on("top1"), &check).failed());
  CHECK(run_checks(two(ok, ok, {0.5f, 0.31f, 0.2f}), on("bits"), &check).failed());
}

TEST_CASE("Checks_Baseline_TargetThatItDoesNotHold_Fails") {
  BaselineCheck check = check_of(two(ok, ok));
  check.baseline.targets.pop_back();
  CHECK(run_checks(two(ok, ok), on("fault"), &check).failed());
}

TEST_CASE("Checks_BaselineSpeed_IsJudgedByItsNoiseOnTheSameMachine") {
  const ComparisonView view = two(ok, ok);
  BaselineCheck check = check_of(view);
  for (BaselineTarget& target : check.baseline.targets) target.medians_ns = {100, 101, 99, 100, 100};
  const auto with = [&](std::vector<double> now) {
    check.medians = {{"pc/strict", {100, 100, 100}}, {"chrome/fast", std::move(now)}};
    return run_checks(view, on("slower:20%"), &check);
  };
  CHECK(with({130, 131, 129}).failed());
  CHECK(!with({110, 111, 109}).failed());
  CHECK(!with({80, 240, 130}).failed());  // noise
  CHECK(with({}).failed());               // not measured although requested
  check.machine.cores = 4;
  const CheckReport elsewhere = with({130, 131, 129});
  CHECK(!elsewhere.failed());
  CHECK(find(elsewhere, "chrome/fast", "speed").outcome == CheckOutcome::skipped);
  CHECK(holds(checks_text(elsewhere), "4"));
}

TEST_CASE("LeastVisibleSlowdown_GrowsWithTheNoise") {
  const auto quiet = min_visible_slowdown({100, 101, 99, 100, 100});
  const auto noisy = min_visible_slowdown({100, 200, 130, 90, 150});
  REQUIRE(quiet);
  REQUIRE(noisy);
  CHECK(*quiet < 0.05);
  CHECK(*noisy > 0.5);
  CHECK(!min_visible_slowdown({100}));
  CHECK(!min_visible_slowdown({}));
  CHECK(!min_visible_slowdown({0, 0, 0}));
  // `shown` appears in the text, layers below do not.
  const std::vector<double> saved = {100, 101, 99, 100, 100};
  const auto scaled = [&](double by) {
    std::vector<double> now = saved;
    for (double& one : now) one *= by;
    return check_regression(saved, now, 0.0).speed;
  };
  CHECK(scaled(1.0 + 1.1 * *quiet) == Speed::slower);
  CHECK(scaled(1.0 + 0.9 * *quiet) == Speed::fine);
}

TEST_CASE("GateJson_HoldsFailuresAndConditions") {
  const auto json = parse_json(checks_json(run_checks(two(ok, Verdict::fault), on("fault,slower:5%"))));
  CHECK(json["fail_on"] == "fault,slower:5%");
  CHECK(json["passed"] == false);
  CHECK(json["failures"].size() == 2);  // no times either
  CHECK(json["failures"][0]["target"] == "chrome/fast");
}

TEST_CASE("Annotations_AreEscapedAndCapped") {
  ComparisonView view = two(ok, Verdict::fault);
  view.right[0].verification->layers[0].node = "a,b:c%\nx";
  view.right[0].verification->layers[0].findings = {saying("100%\r\n::error::no")};
  const std::string text = github_annotations(run_checks(view, on("fault")), "models/net,1.onnx");
  CHECK(text ==
        "::error file=models/net%2C1.onnx,title=chrome/fast%3A a%2Cb%3Ac%25%0Ax (Conv)::output conv_out: "
        "100%25%0D%0A::error::no; worst at [0, 1]: got 1.25, expected 1.5\n");
  auto& layers = view.right[0].verification->layers;
  layers.assign(25, verified_layer("n", "Conv", Verdict::fault));
  const std::string many = github_annotations(run_checks(view, on("fault")), "net.onnx");
  CHECK(std::count(many.begin(), many.end(), '\n') == 10);
  CHECK(holds(many, "16 more"));
  CHECK(holds(github_annotations(run_checks(view, on("top1")), "net.onnx"), "::warning"));
}

TEST_CASE("Summary_IsMarkdownThatNamesCannotBreak") {
  ComparisonView view = two(ok, Verdict::fault);
  view.right[0].verification->layers[0].node = "a|b<script>`";
  const std::string text = github_summary(run_checks(view, on("fault")), view);
  CHECK(holds(text, "a\\|b\\<script\\>\\`"));
  CHECK(holds(text, "| chrome/fast | ✗ fault |"));
  CHECK(holds(text, "❌"));
}

TEST_CASE("Summary_IsFineOnlyWithoutFailuresAndErrors") {
  const auto summary = [](const ComparisonView& view) {
    return github_summary(run_checks(view, on("fault")), view);
  };
  CHECK(holds(summary(two(ok, Verdict::identical)), "### ✅ Driftscope"));
  ComparisonView view = two(ok, Verdict::identical);
  view.right[0] = {};
  view.right[0].target = "chrome/fast";
  view.right[0].error = missing_error("no browser");
  CHECK(holds(summary(view), "### ❌ Driftscope"));
}

}  // namespace driftscope::test::checks_test
