// Where curves end, where two of them part, and what is drawn.
#include <doctest/doctest.h>

#include <cmath>

#include "core/curves/compare_curves.hpp"
#include "core/curves/curves_page.hpp"
#include "core/curves/curves_text.hpp"

namespace driftscope::test::compare_curves_test {
namespace {

Curve curve(std::string run, std::string metric, std::int64_t repetition, std::vector<double> values) {
  Curve made{std::move(run), std::move(metric), repetition, {}, std::move(values)};
  for (std::size_t i = 0; i < made.values.size(); ++i) made.steps.push_back(static_cast<double>(i));
  return made;
}

std::shared_ptr<const CurveSet> set_of(std::vector<Curve> curves, std::vector<std::string> notes = {}) {
  std::vector<NamedCurveFile> files;
  files.push_back({"a.csv", {.format = "csv", .curves = std::move(curves), .notes = std::move(notes)}});
  return *make_curve_set(std::move(files));
}

}  // namespace

TEST_CASE("Curves_Summary_LastBestAndItsStep") {
  const std::vector<Curve> curves = {
      curve("a", "val_loss", 0, {3, 1, 2}), curve("a", "val_loss", 1, {3, 2, 0.5}),
      curve("a", "val_acc", 0, {0.1, 0.9, 0.8}), curve("a", "speed", 0, {1, 2})};
  const auto groups = groups_of(curves);
  REQUIRE(groups.size() == 3);
  const auto loss = summary_of(groups[0]);
  CHECK(loss.repetitions == 2);
  CHECK(loss.last == 1.25);
  CHECK(loss.last_low == 0.5);
  CHECK(loss.last_high == 2.0);
  CHECK(loss.best == 0.75);
  CHECK(loss.best_step == 1.5);
  CHECK(summary_of(groups[1]).best == 0.9);
  CHECK(summary_of(groups[1]).best_step == 1.0);
  CHECK_FALSE(summary_of(groups[2]).best);
}

TEST_CASE("Curves_Summary_OfATrainingThatDiverged") {
  const std::vector<Curve> curves = {curve("a", "loss", 0, {3, 1, std::nan("")}),
                                     curve("b", "loss", 0, {std::nan(""), std::nan("")})};
  const auto groups = groups_of(curves);
  const auto diverged = summary_of(groups[0]);
  CHECK(std::isnan(diverged.last));
  CHECK(diverged.best == 1.0);
  CHECK(diverged.not_finite == 1);
  CHECK_FALSE(summary_of(groups[1]).best);
  const auto comparisons = compare_curves(groups, {});
  REQUIRE(comparisons.size() == 1);
  CHECK(comparisons[0].steps == 2);
  CHECK(comparisons[0].largest == 0.0);
  CHECK(comparisons[0].largest_step == 0.0);
  CHECK(comparisons[0].parted_step == 0.0);
  CHECK_FALSE(comparisons[0].p);
  // Nothing finite to draw is said, not drawn.
  CHECK(curves_page("x", *set_of({curves[1]})).find("no finite values") != std::string::npos);
}

TEST_CASE("Curves_Comparison_PartsWhereTheyStayApart") {
  // Apart at step 1 and together at 2; apart for good from 3 on. The range is 0 to 10, the threshold 1.
  const std::vector<Curve> curves = {curve("a", "loss", 0, {10, 8, 5, 4, 0}),
                                     curve("b", "loss", 0, {10, 5, 5.5, 6, 2})};
  const auto comparisons = compare_curves(groups_of(curves), {.threshold = 0.1});
  REQUIRE(comparisons.size() == 1);
  CHECK(comparisons[0].largest == -3.0);
  CHECK(comparisons[0].largest_step == 1.0);
  CHECK(comparisons[0].parted_step == 3.0);
  CHECK(comparisons[0].threshold == doctest::Approx(1.0));
  const std::vector<Curve> equal = {curve("a", "loss", 0, {2, 1}), curve("b", "loss", 0, {2, 1})};
  CHECK_FALSE(compare_curves(groups_of(equal), {})[0].parted_step);
}

TEST_CASE("Curves_Comparison_TestsRepetitionsWithHolm") {
  std::vector<Curve> curves;
  for (std::int64_t r = 0; r < 5; ++r) {
    curves.push_back(curve("a", "accuracy", r, {0.5, 0.80 + 0.01 * static_cast<double>(r)}));
    curves.push_back(curve("b", "accuracy", r, {0.5, 0.90 + 0.01 * static_cast<double>(r)}));
    curves.push_back(curve("c", "accuracy", r, {0.5, 0.801 + 0.01 * static_cast<double>(r)}));
  }
  const auto comparisons = compare_curves(groups_of(curves), {});
  REQUIRE(comparisons.size() == 3);
  // All of 5 above all of 5: 2 of C(10, 5) = 252 orders are as extreme; Holm times 3 and 2.
  CHECK(*comparisons[0].p == doctest::Approx(3.0 * 2.0 / 252.0));
  CHECK(*comparisons[0].a == 1.0);
  CHECK(comparisons[0].size == "large");
  CHECK(*comparisons[1].p > 0.5);
  CHECK_FALSE(comparisons[0].too_few);
  std::erase_if(curves, [](const Curve& one) { return one.repetition > 2; });
  CHECK(compare_curves(groups_of(curves), {})[0].too_few);
}

TEST_CASE("Curves_Page_HasAChartForEachModelAndMetric") {
  const std::vector<Curve> curves = {curve("m/<jax>", "loss", 0, {1000, 1}),
                                     curve("m/keras", "loss", 0, {900, 2}), curve("n/jax", "loss", 0, {1, 2}),
                                     curve("m/jax", "accuracy", 0, {0, 1})};
  const std::string page = curves_page("t", *set_of(curves, {"a note"}));
  std::size_t charts = 0;
  for (std::size_t at = page.find("<svg"); at != std::string::npos; at = page.find("<svg", at + 1)) ++charts;
  CHECK(charts == 3);
  CHECK(page.find("Logarithmic") != std::string::npos);
  CHECK(page.find("<jax>") == std::string::npos);
  CHECK(page.find("a.csv: a note") != std::string::npos);
}

}  // namespace driftscope::test::compare_curves_test
